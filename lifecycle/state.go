package lifecycle

import "fmt"

// State is where a machine is in its life.
//
//	              Connect                  dialled
//	Disconnected ----------> Connecting ------------> Connected
//	     ^  ^                  |     |                    |
//	     |  |    dial failed   |     | Close              | Close
//	     |  +------------------+     v                    |
//	     +------------------------ Closing <--------------+
//	              closed
//
// The zero State is Disconnected.
type State uint32

// The states.
const (
	Disconnected State = iota // there is no connection and none is being made
	Connecting                // a dial is under way
	Connected                 // leases can be had
	Closing                   // no leases any more; waiting for those that are out
)

var stateNames = [...]string{"disconnected", "connecting", "connected", "closing"}

// String returns the state's name in lower case, as telemetry uses it.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("state(%d)", uint32(s))
}

// transitions is the only authority on what may follow what, and why. The diagram
// above and the one in docs/design/lifecycle.md are tested against it.
var transitions = map[State]map[State]string{
	Disconnected: {Connecting: "Connect"},
	Connecting:   {Connected: "dialled", Disconnected: "dial failed", Closing: "Close"},
	Connected:    {Closing: "Close"},
	Closing:      {Disconnected: "closed"},
}
