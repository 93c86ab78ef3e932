package aerospike

import (
	"context"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// compat is a guarded client in the shape of the driver's. It declares every method of
// as.ClientIfc itself, for one that it inherited would go past the lanes; what is
// embedded gives only the methods that the interface doesn't export.
type compat struct {
	*as.Client                 // of the one connection that this belongs to
	guarded    *Client         // bound to that connection
	ctx        context.Context //nolint:containedctx // the driver's interface has no place for one
	delay      time.Duration   // the least time that a refusal takes
}

// CompatOption is a choice for [Client.Compat].
type CompatOption func(*compat) error

// CompatRefusalDelay has a call that is refused return no earlier than d after it was
// refused, or when the context ends. It protects from callers who try again without a
// pause, who would otherwise spin: what they should do is wait. No permit is held
// meanwhile. The default is no delay; d must not be negative.
func CompatRefusalDelay(d time.Duration) CompatOption {
	return func(c *compat) error {
		if d < 0 {
			return badArgument(&Operation{Name: "Compat"}, "CompatRefusalDelay", d, "must not be negative")
		}
		c.delay = d
		return nil
	}
}

// Compat returns the client in the shape of the driver's, as.ClientIfc, for code that
// can't be given contexts yet. All calls have the context ctx: whatever ends it, ends
// all of them. With context.Background() calls lose their callers' deadlines,
// cancellation, classes and traces: each may take as long as its policy says, or
// RecordTimeout or StreamTimeout if that says nothing. It goes through the same lanes
// as c, with c's choices, and is bound to c's present connection: after that was
// closed, also if c was connected anew, its calls fail and it has to be made again. It
// fails if c isn't connected.
//
// Results are the driver's, and so are its errors, unwrapped. An error that is not the
// driver's is an as.Error which matches what it matches here, with errors.Is and
// errors.As, and has one of these codes:
//
//   - types.DEVICE_OVERLOAD for a refusal, which matches spillway.ErrBackpressure.
//     It is the code with which a server says: I can't take this now, and have not done
//     it, slow down. The driver doesn't retry it. It isn't
//     NO_AVAILABLE_CONNECTIONS_TO_NODE, of which code written for the driver expects
//     that repeating at once is right.
//   - types.TIMEOUT if the time was over before anything was sent, or the context's
//     deadline has passed.
//   - types.SERVER_NOT_AVAILABLE if the connection was closed.
//   - types.PARAMETER_ERROR for an argument that can't be sent.
//   - types.COMMON_ERROR for all else, such as a context that was cancelled.
//
// A panic of the driver in a call is a panic of the caller, as it would be without us.
//
// Scans and queries return the driver's own Recordset. Its permits come back when its last
// producer has ended, also after Close, which waits for that. When its time is over (its
// policy's TotalTimeout, else Config.StreamTimeout, or the deadline of ctx), its reader
// finds as the last of the Results an error with the code types.TIMEOUT, the driver's own. One that nobody reads
// then is closed after as much time again, five seconds at most; and so is one whose ctx
// was cancelled, at once. These two are without an error, for nothing can be put into a
// Recordset from outside; nor does the driver tell who reads objects. PartitionFilter.IsDone
// doesn't say it either: the driver calls a scan that was broken off done.
//
// Tasks are the driver's: what they ask goes past the lanes, and knows no context.
// Close closes c as Client.Close does, and drains what c has in the background before, also
// if ctx has ended: it is bounded by DrainTimeout, CloseTimeout and BackgroundConfig.Drain.
func (c *Client) Compat(ctx context.Context, options ...CompatOption) (as.ClientIfc, error) {
	if c.core == nil {
		return nil, errZero
	}
	if ctx == nil {
		return nil, badArgument(&Operation{Name: "Compat"}, "ctx", nil, "must not be nil")
	}
	lease, err := c.lease()
	if err != nil {
		return nil, err
	}
	defer lease.Release()
	bound := *c
	bound.choices.bound = lease.Conn()
	made := &compat{Client: lease.Conn().client, guarded: &bound, ctx: ctx}
	for _, choose := range options {
		if err := choose(made); err != nil {
			return nil, err
		}
	}
	return made, nil
}
