package info

import (
	"fmt"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/security"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// A Permit says whether whoever asks may do something in a namespace and set; nil is
// everything, on a server without users.
type Permit func(need security.Need, namespace, set string) wire.Code

// needOf returns what a command needs. What isn't listed needs a login.
func needOf(command string) security.Need {
	switch command {
	case "truncate", "truncate-namespace", "truncate-undo", "truncate-namespace-undo":
		return security.NeedTruncate
	case "sindex-create", "sindex-delete":
		return security.NeedIndexes
	case "udf-put", "udf-remove":
		return security.NeedModules
	case "set-config", "set-log", "query-abort", "query-abort-all", "quiesce", "quiesce-undo", "services-alumni-reset":
		return security.NeedSystem
	}
	return 0
}

// refused returns the answer to a command that is not permitted, or nothing.
func (r *request) refused(command string) string {
	if r.permit == nil {
		return ""
	}
	switch c := r.permit(needOf(command), r.namespaceParam(), r.param("set")); c {
	case wire.OK:
		return ""
	case wire.RoleViolation:
		return "ERROR:81:role violation"
	default:
		return fmt.Sprintf("ERROR:%d:not authenticated", c)
	}
}
