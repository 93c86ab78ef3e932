package aerospike

import (
	"errors"
	"strings"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"

	"github.com/spillway-go/spillway"
)

// dialled is what an error of Connect says besides: where it went, and why it failed as
// far as the driver tells.
type dialled struct{ hosts, why string }

// Bounds of the text, which lists of seeds and chains of errors could make long.
const (
	mostSeeds = 8
	longCause = 200
)

// connectError is the error of a Connect. The driver's outermost link says only that no
// seed would do. If one of them has answered, and won't have us, that is the cause, for
// trying again won't help; else it is the newest failure to reach one. Seeds whose names
// have no address the driver passes over in silence, waits for nobody until its Timeout is
// over, or calls its own arguments wrong.
func (c *core) connectError(err as.Error) error {
	e := &Error{Op: opConnect.Name, cause: err, dialled: &dialled{hosts: c.seeds()}}
	v := Classify(err)
	top, _ := driverLink(err)
	if v.Code == types.INVALID_NODE_ERROR && top != nil {
		for link, ok := driverLink(top.Unwrap()); ok; link, ok = driverLink(link.Unwrap()) {
			if below := Classify(link); v.Code == types.INVALID_NODE_ERROR || below.Outcome == spillway.OutcomePermanent {
				v = below
			}
		}
	}
	e.Code, e.outcome = v.Code, v.Outcome
	e.dialled.why = rootText(err)
	if e.dialled.why == "" && (e.Code == types.PARAMETER_ERROR || e.Code == types.TIMEOUT) {
		e.dialled.why = "no seed has an address, or none answered"
	}
	if e.Code == types.PARAMETER_ERROR { // by which it means just that
		e.Code, e.outcome = types.SERVER_NOT_AVAILABLE, spillway.OutcomeNetwork
	}
	return e
}

// seeds are the hosts that Connect tries.
func (c *core) seeds() string {
	hosts := c.cfg.Hosts
	if len(hosts) > mostSeeds {
		return strings.Join(hosts[:mostSeeds], ", ") + " and more"
	}
	return strings.Join(hosts, ", ")
}

// rootText is the text of what is at the bottom of the driver's chain, if that isn't the
// driver's.
func rootText(err error) string {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
		if _, ok := driverLink(err); !ok {
			break // the network's own; what it wraps says less
		}
	}
	if _, ok := driverLink(err); ok {
		return ""
	}
	text := err.Error()
	if len(text) > longCause {
		text = strings.ToValidUTF8(text[:longCause], "") + " …"
	}
	return text
}
