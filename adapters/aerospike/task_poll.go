package aerospike

import (
	"slices"
	"strconv"
	"strings"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
)

// poll asks all nodes whether some work is done. The driver's tasks ask five times with a
// timeout of their own, which no deadline ends, and take answers that are errors, or that
// it couldn't get, for a yes; so the questions are asked here.
type poll func(cl *call, timeout time.Duration) (done bool, err error)

// indexBuilt asks whether an index has all records in it.
func indexBuilt(namespace, name string) poll {
	return func(cl *call, timeout time.Duration) (bool, error) {
		// A node that doesn't know the index hasn't heard of it yet.
		answers, err := cl.askAll(timeout, "sindex/"+namespace+"/"+name, types.INDEX_NOTFOUND)
		return err == nil && !slices.ContainsFunc(answers, func(a string) bool { return loaded(a) < 100 }), err
	}
}

// loaded is how much of the records an index has in it, in percent.
func loaded(answer string) int {
	_, rest, _ := strings.Cut(answer, "load_pct=")
	number, _, _ := strings.Cut(rest, ";")
	n, _ := strconv.Atoi(number) // what is no number is no progress
	return n
}

// indexGone asks whether no node has an index any more.
func indexGone(namespace, name string) poll {
	return func(cl *call, timeout time.Duration) (bool, error) {
		answers, err := cl.askAll(timeout, "sindex-exists:ns="+namespace+";indexname="+name, types.OK)
		return err == nil && !slices.ContainsFunc(answers, func(a string) bool { return a != "false" }), err
	}
}

// moduleThere asks whether all nodes have a Lua module, or none has.
func moduleThere(name string, there bool) poll {
	return func(cl *call, timeout time.Duration) (bool, error) {
		answers, err := cl.askAll(timeout, "udf-list", types.OK)
		return err == nil && !slices.ContainsFunc(answers, func(a string) bool {
			return there != slices.ContainsFunc(modules(a), func(u *as.UDF) bool { return u.Filename == name })
		}), err
	}
}

// jobDone asks whether a job has ended. A server that doesn't know it has forgotten it
// since; only servers before 6.0 may not have begun it, and for those the driver knows
// more.
func jobDone(task *as.ExecuteTask, id uint64) poll {
	turn := make(chan struct{}, 1)
	return func(cl *call, timeout time.Duration) (bool, error) {
		nodes := cl.session.client.Cluster().GetNodes()
		if slices.ContainsFunc(nodes, func(n *as.Node) bool { return !n.SupportsPartitionQuery() }) {
			return askTask(cl, task, turn, timeout)
		}
		answers, err := cl.askAll(timeout, "query-show:trid="+strconv.FormatUint(id, 10), types.KEY_NOT_FOUND_ERROR)
		return err == nil && !slices.ContainsFunc(answers, underWay), err
	}
}

// askTask asks the driver's task, which writes down what it saw, and is for one at a time:
// who has turn.
func askTask(cl *call, task *as.ExecuteTask, turn chan struct{}, timeout time.Duration) (bool, error) {
	timer := time.NewTimer(max(timeout, time.Millisecond))
	defer timer.Stop()
	select {
	case turn <- struct{}{}:
	case <-timer.C:
		return false, cl.wrap(&as.AerospikeError{ResultCode: types.TIMEOUT})
	}
	defer func() { <-turn }()
	done, err := task.IsDone()
	return done, cl.wrap(err)
}

// underWay reports whether an answer is that of a job that has not ended; an empty one is
// not.
func underWay(answer string) bool {
	for field := range strings.SplitSeq(answer, ":") {
		if status, ok := strings.CutPrefix(field, "status="); ok {
			return !strings.HasPrefix(strings.ToLower(status), "done")
		}
	}
	return answer != ""
}
