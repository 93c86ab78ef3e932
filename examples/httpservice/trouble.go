package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// The database in this process: 64 commands at once of 20 ms each.
const (
	slots   = 64
	usual   = 20 * time.Millisecond
	backlog = 10_000
)

// trouble is the load, and a database that can be made slow. It is no part of a service.
type trouble struct {
	kind   string
	after  time.Duration
	server *aerospiketest.Server
}

// newTrouble starts the database if there is none, and sets o.hosts.
func newTrouble(o *options) (*trouble, error) {
	t := &trouble{kind: o.load, after: o.after}
	switch o.load {
	case "", "quiet", "tight", "slow":
	default:
		return nil, fmt.Errorf("-load is %q: must be quiet, tight or slow", o.load)
	}
	if o.hosts != nil {
		if o.load == "slow" {
			return nil, fmt.Errorf("-load is slow: a real database isn't harmed; leave -hosts out")
		}
		return t, nil
	}
	server, err := aerospiketest.Start(aerospiketest.Config{Capacity: capacity(usual)})
	if err != nil {
		return nil, err
	}
	t.server, o.hosts = server, server.Hosts()
	return t, nil
}

func capacity(service time.Duration) aerospiketest.Capacity {
	return aerospiketest.Capacity{Parallel: slots, ServiceTime: service, Queue: backlog}
}

func (t *trouble) close() {
	if t.server != nil {
		t.server.Close()
	}
}

// make loads the service until ctx ends: 8 callers, and after a while the trouble.
func (t *trouble) make(ctx context.Context, url string) {
	if t.kind == "" {
		return
	}
	var callers sync.WaitGroup
	defer callers.Wait()
	more := func(n int) {
		for i := range n {
			callers.Go(func() { call(ctx, url, i) })
		}
	}
	more(8)
	select {
	case <-time.After(t.after):
	case <-ctx.Done():
		return
	}
	switch t.kind {
	case "tight":
		more(100) // the lane of reads has 32 permits
	case "slow":
		if err := t.server.Node(0).SetCapacity(capacity(10 * usual)); err != nil {
			panic(err) // the capacity is a constant
		}
	}
}

// call makes requests one after the other, mostly reads of a user.
func call(ctx context.Context, url string, i int) {
	for n := i; ctx.Err() == nil; n++ {
		path := fmt.Sprintf("%s/users/%d", url, n%100)
		if n%500 == 0 {
			path = url + "/report"
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, path, http.NoBody)
		if err != nil {
			return
		}
		if res, err := http.DefaultClient.Do(req); err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}
