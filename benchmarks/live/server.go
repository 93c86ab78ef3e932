package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// order is what the server is told to do to a node. It answers each with a line.
type order struct {
	Do       string // start, pause, resume, slow, kill, restart
	Node     int
	Nodes    int           // of start
	Parallel int           // of start and slow: see aerospiketest.Capacity; 0 is no bound
	Service  time.Duration // likewise
}

// reply is the answer to an order.
type reply struct {
	Error string   `json:",omitempty"`
	Hosts []string `json:",omitempty"` // of start
}

// queue is how many commands may wait at a node: enough that nobody is turned away, so
// that what limits is the client.
const queue = 100_000

// serve is the process of the cluster: it carries out orders until its input ends.
func serve(in io.Reader, out io.Writer) error {
	var server *aerospiketest.Server
	defer func() {
		if server != nil {
			server.Close()
		}
	}()
	answer := json.NewEncoder(out)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var o order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return err
		}
		var r reply
		if o.Do == "start" {
			if server != nil {
				server.Close()
			}
			var err error
			if server, err = aerospiketest.Start(aerospiketest.Config{Nodes: o.Nodes, Capacity: o.capacity()}); err != nil {
				return err
			}
			r.Hosts = server.Hosts()
		} else if err := o.obey(server); err != nil {
			r.Error = err.Error()
		}
		if err := answer.Encode(r); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (o order) capacity() aerospiketest.Capacity {
	if o.Parallel == 0 {
		return aerospiketest.Capacity{}
	}
	return aerospiketest.Capacity{Parallel: o.Parallel, ServiceTime: o.Service, Queue: queue}
}

func (o order) obey(server *aerospiketest.Server) error {
	node := server.Node(o.Node)
	switch o.Do {
	case "pause":
		node.Pause()
	case "resume":
		node.Resume()
	case "slow":
		return node.SetCapacity(o.capacity())
	case "kill":
		node.Kill()
	case "restart":
		return node.Restart()
	default:
		return fmt.Errorf("unknown order %q", o.Do)
	}
	return nil
}
