package aerospiketest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// An Action is what a [Fault] does to a command.
type Action uint8

// Actions. The zero value does nothing: such a fault only delays.
const (
	// ActionNone goes on.
	ActionNone Action = iota
	// ActionCode answers with Fault.Code: a single record with that code, a
	// batch, scan or query as a whole, an info command with an error text.
	ActionCode
	// ActionReset resets the connection (RST).
	ActionReset
	// ActionSwallow never answers. The connection stays open and goes on to read.
	ActionSwallow
	// ActionStall holds the command until the fault is removed.
	ActionStall
	// ActionTruncate sends the first half of the answer, or of its first part,
	// and closes the connection.
	ActionTruncate
	actionCount
)

// A Fault is a rule: what happens to which commands. Rules are looked at in the
// order in which they were injected, and each that matches counts and acts;
// after one with ActionCode, ActionReset or ActionSwallow the rest is skipped.
// So a delay and a reset may be one rule or two. The zero value does nothing to
// every data command, but counts them.
type Fault struct {
	// Match says which commands. The zero value is every data command.
	Match Match
	// Skip is how many matching commands are let through first.
	Skip int
	// Times is how many are acted on after that. Zero means all.
	Times int
	// Delay is waited before the action. That a client has hung up meanwhile is
	// noticed afterwards.
	Delay time.Duration
	// Action is what is done.
	Action Action
	// Code is the answer of ActionCode; it must not be CodeOK.
	Code Code
	// After acts once the command has been carried out and its answer, or the
	// last part of it, is about to be sent: a write happens and its caller can't
	// know. Otherwise a fault acts before, and a command that it answers is not
	// carried out.
	After bool
}

func (f *Fault) check(nodes int) error {
	errs := []error{f.Match.check(nodes, kindsCommands)}
	fault := func(bad bool, field string, value any, want string) {
		if bad {
			errs = append(errs, fmt.Errorf("aerospiketest: Fault.%s is %v, want %s", field, value, want))
		}
	}
	fault(f.Skip < 0, "Skip", f.Skip, "0 or more")
	fault(f.Times < 0, "Times", f.Times, "0 or more")
	fault(f.Delay < 0, "Delay", f.Delay, "0 or more")
	fault(f.Action >= actionCount, "Action", f.Action, "one of the actions")
	fault(f.Action == ActionCode && f.Code == CodeOK, "Code", f.Code, "an error, as Action is ActionCode")
	fault(f.Action != ActionCode && f.Code != CodeOK, "Code", f.Code, "0, as Action is not ActionCode")
	return errors.Join(errs...)
}

// An Injected is a fault at work. All its methods are safe for concurrent use.
type Injected struct {
	srv   *Server
	fault Fault

	mu      sync.Mutex
	seen    int           // commands that matched
	hits    int           // commands that were acted on
	changed chan struct{} // closed and made anew when hits grows
	removed bool
	free    chan struct{} // closed when removed
}

// Remove ends the fault: no more commands are acted on, and those that it
// stalls go on. A second call does nothing. It does not wait.
func (i *Injected) Remove() {
	i.srv.forgetFault(i)
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.removed {
		i.removed = true
		close(i.free)
	}
}

// Hits returns how many commands were acted on.
func (i *Injected) Hits() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.hits
}

// Wait returns nil once n commands have been acted on, counting all since the
// fault was injected. It fails with the context's cause, or when the fault is
// removed first.
func (i *Injected) Wait(ctx context.Context, n int) error {
	for {
		i.mu.Lock()
		hits, changed := i.hits, i.changed
		i.mu.Unlock()
		if hits >= n {
			return nil
		}
		select {
		case <-changed:
		case <-i.free:
			if i.Hits() >= n {
				return nil
			}
			return fmt.Errorf("aerospiketest: fault removed after %d of %d hits", i.Hits(), n)
		case <-ctx.Done():
			return fmt.Errorf("aerospiketest: %d of %d hits: %w", i.Hits(), n, causeOf(ctx))
		}
	}
}

// take says whether the fault acts on a command, and counts it.
func (i *Injected) take(c *target) bool {
	if !i.fault.Match.matches(c) {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.seen++
	n := i.seen - i.fault.Skip
	if i.removed || n <= 0 || i.fault.Times > 0 && n > i.fault.Times {
		return false
	}
	i.hits++
	close(i.changed)
	i.changed = make(chan struct{})
	return true
}
