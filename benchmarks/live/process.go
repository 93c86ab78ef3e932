package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// child is a process of ours that takes lines of JSON and answers with such.
type child struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
}

// start runs this program again, as something else. The process ends with ctx.
func start(ctx context.Context, role string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.CommandContext(ctx, self, "-role", role)}
	c.cmd.Stderr = os.Stderr
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.lines = bufio.NewScanner(out)
	c.lines.Buffer(nil, 16<<20)
	return c, c.cmd.Start()
}

func (c *child) send(v any) error { return json.NewEncoder(c.in).Encode(v) }

func (c *child) receive(v any) error {
	if !c.lines.Scan() {
		return errors.Join(errors.New("the process ended"), c.lines.Err(), c.cmd.Wait())
	}
	return json.Unmarshal(c.lines.Bytes(), v)
}

// end closes the process's input, which ends it, and waits for that.
func (c *child) end() error {
	return errors.Join(c.in.Close(), c.cmd.Wait())
}

// cluster is the process of the cluster, or the addresses of a real one.
type cluster struct {
	process *child // nil: a real one, which can't be harmed
	hosts   []string
}

// order has the cluster do something, and returns once that is done.
func (c *cluster) order(o order) error {
	if c.process == nil {
		return errors.New("a real cluster takes no orders")
	}
	if err := c.process.send(o); err != nil {
		return err
	}
	var r reply
	if err := c.process.receive(&r); err != nil {
		return err
	}
	if r.Error != "" {
		return fmt.Errorf("%s: %s", o.Do, r.Error)
	}
	if r.Hosts != nil {
		c.hosts = r.Hosts
	}
	return nil
}
