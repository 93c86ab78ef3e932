package aerospike

import (
	"math/rand/v2"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"

	"github.com/spillway-go/spillway"
)

// The driver asks by info commands over the one connection that it keeps to each node,
// and waits for that connection without a limit. What it couldn't ask it takes for an
// empty answer, and so does it with some errors of the server. Where that matters the
// question is asked here.

// ask sends an info command to a node. No answer, and an answer that says that the
// command failed, are errors.
func ask(node *as.Node, timeout time.Duration, command string) (string, as.Error) {
	answers, err := node.RequestInfo(&as.InfoPolicy{Timeout: timeout}, command)
	switch {
	case err != nil && err.Matches(types.TIMEOUT): // the driver calls it a network error, with that below
		return "", &as.AerospikeError{ResultCode: types.TIMEOUT, Node: node}
	case err != nil:
		return "", err
	}
	answer, ok := answers[command]
	if !ok {
		return "", &as.AerospikeError{ResultCode: types.SERVER_NOT_AVAILABLE, Node: node}
	}
	if code, failed := infoCode(answer); failed {
		return "", &as.AerospikeError{ResultCode: code, Node: node}
	}
	return answer, nil
}

// askAny asks a node, whichever; one that is told to do something tells the others.
func (cl *call) askAny(timeout time.Duration, command string) (string, as.Error) {
	nodes := cl.session.client.Cluster().GetNodes()
	if len(nodes) == 0 {
		return "", &as.AerospikeError{ResultCode: types.SERVER_NOT_AVAILABLE}
	}
	return ask(nodes[rand.IntN(len(nodes))], timeout, command)
}

// infoCode reports whether an answer says that the command failed, and with which code:
// such answers begin with FAIL or ERROR, and may go on with a code and a text, parted by
// colons or equals signs.
func infoCode(answer string) (code types.ResultCode, failed bool) {
	rest := strings.ToUpper(answer)
	switch {
	case strings.HasPrefix(rest, "FAIL"):
		rest = answer[len("FAIL"):]
	case strings.HasPrefix(rest, "ERROR"):
		rest = answer[len("ERROR"):]
	default:
		return types.OK, false
	}
	if rest != "" {
		if rest[0] != ':' && rest[0] != '=' {
			return types.OK, false // a word that only begins like that
		}
		rest = rest[1:]
	}
	if end := strings.IndexAny(rest, ":="); end >= 0 {
		rest = rest[:end]
	}
	n, err := strconv.Atoi(rest)
	if err != nil || n <= 0 {
		n = int(types.SERVER_ERROR)
	}
	return types.ResultCode(n), true
}

// askAll asks all nodes at the same time, so that one that hangs costs its own timeout
// and no more. It returns the answers in the order of the nodes, or the first error; that
// what it is about is absent, which a code of its own says, is an empty answer. types.OK
// stands for no such code. That there is no node to ask is an error.
func (cl *call) askAll(timeout time.Duration, command string, absent types.ResultCode) ([]string, error) {
	nodes := cl.session.client.Cluster().GetNodes()
	if len(nodes) == 0 {
		return nil, cl.wrap(&as.AerospikeError{ResultCode: types.SERVER_NOT_AVAILABLE})
	}
	answers, errs := make([]string, len(nodes)), make([]error, len(nodes))
	done := make(chan struct{}, len(nodes))
	for i, node := range nodes {
		go func() {
			defer func() {
				if v := recover(); v != nil {
					errs[i] = &spillway.PanicError{Component: "aerospike." + cl.trip.op.Name, Name: cl.client.cfg.Name, Value: v, Stack: debug.Stack()}
				}
				done <- struct{}{}
			}()
			var err as.Error
			if answers[i], err = ask(node, timeout, command); err != nil && (absent == types.OK || !err.Matches(absent)) {
				errs[i] = err
			}
		}()
	}
	for range nodes {
		<-done
	}
	for _, err := range errs {
		if aerr, ok := err.(as.Error); ok { //nolint:errorlint // as it came from the driver
			return nil, cl.wrap(aerr)
		}
		if err != nil {
			return nil, err
		}
	}
	return answers, nil
}
