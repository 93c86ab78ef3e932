package group

import (
	"context"
	"time"

	"github.com/spillway-go/spillway"
)

// Admission gives out permits: a limiter, a lane, or anything else that knows when
// there is room. Admit returns a permit, or an error and nothing; if it waits it must
// return when ctx is done, because a producer of the group waits in it. It must be safe
// for concurrent use.
type Admission interface {
	Admit(ctx context.Context) (spillway.Permit, error)
}

// Config are the settings of a group, and of [Each] and [Map]. The zero Config is one
// to use: no member cancels another, and none has a time of its own.
type Config struct {
	// Name is the group's name in errors. Empty means that they don't say one.
	Name string
	// CancelOnError cancels the context of all members when the first of them fails,
	// panics, calls runtime.Goexit, or isn't admitted. False means that the members have
	// nothing to do with each other.
	CancelOnError bool
	// MemberTimeout is the longest time a member's context lives, from its start; the
	// wait for a permit isn't counted. The budget of the whole is the deadline of the
	// context that the group is made with. Zero means that there is no time for the
	// single member.
	MemberTimeout time.Duration
}

// validate returns one error that lists every fault.
func (c Config) validate(ctx context.Context, a Admission) error {
	e := &spillway.ConfigError{Component: "group", Name: c.Name}
	if ctx == nil {
		e.Add("ctx", nil, "must not be nil")
	}
	if a == nil {
		e.Add("admission", nil, "must not be nil: a limiter or a lane")
	}
	if c.MemberTimeout < 0 {
		e.Add("MemberTimeout", c.MemberTimeout, "must not be negative")
	}
	return e.Err()
}
