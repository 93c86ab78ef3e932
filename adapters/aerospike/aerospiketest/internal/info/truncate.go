package info

import (
	"strconv"
	"time"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// addTruncate adds truncation of sets and namespaces. A name that isn't there
// is fine, as on the real server.
func (s *Server) addTruncate() {
	s.table["truncate"] = func(r *request) string {
		set := r.param("set")
		switch {
		case r.param("namespace") == "":
			return errNamespace
		case set == "":
			return "ERROR:4:missing 'set'"
		case len(set) > wire.MaxSetName:
			return errParameter
		}
		return r.truncate(set)
	}
	s.table["truncate-namespace"] = func(r *request) string {
		if r.param("namespace") == "" {
			return errNamespace
		}
		return r.truncate("")
	}
	undo := func(r *request) string {
		if r.param("namespace") == "" {
			return errNamespace
		}
		return "ok"
	}
	s.table["truncate-undo"] = undo
	s.table["truncate-namespace-undo"] = undo
}

// truncate removes records up to the time in lut, in nanoseconds since 1970. A
// time before the protocol's own zero, or one that is to come, is refused.
func (r *request) truncate(set string) string {
	before := int64(0)
	if lut := r.param("lut"); lut != "" {
		n, err := strconv.ParseInt(lut, 10, 64)
		if err != nil || n < wire.Epoch*int64(time.Second) || n > time.Now().UnixNano() {
			return errParameter
		}
		before = n
	}
	if n := r.namespace(r.param("namespace")); n != nil {
		n.Truncate(set, before)
	}
	return "ok"
}
