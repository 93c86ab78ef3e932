package aerospiketest

import (
	"math/bits"
	"strings"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// A Kind is a set of kinds of commands, one bit each. The zero value is the
// empty set, which faults and gates read as [KindsData].
type Kind uint32

// Kinds of commands, by what they look like on the wire. A read of a header
// looks like a test for existence, so both are KindExists; a record's delete by
// an operation is KindOperate.
const (
	KindGet     Kind = 1 << iota // reads of bins
	KindExists                   // reads without bins
	KindPut                      // writes of bins, add, append and prepend
	KindTouch                    // a single touch operation
	KindDelete                   // deletes of a record
	KindOperate                  // any other list of operations
	KindUDF                      // a record's function
	KindBatch
	KindScan // scans, and queries without a filter
	KindQuery
	KindBackground // scans and queries that change records, when they are started
	KindInfo
	KindAdmin
	// KindJob is a background job's work on a node, after its command was
	// answered. Gates hold it before its first record; faults and recorders know
	// only the command.
	KindJob
	// KindConnect is a new connection, of which no byte was read yet. Gates hold it, with
	// or without TLS; faults and recorders don't know it. Its client finds it open, for
	// the kernel has accepted it, and waits for what comes first: the handshake of TLS,
	// the login if there are users, or the answer to its first command.
	KindConnect
	kindCount = iota

	// KindsData are all but info, admin, the work of jobs and new connections.
	KindsData = KindInfo - 1
	// kindsCommands are those of commands, which faults and recorders know.
	kindsCommands = KindJob - 1
	// KindsAll are all kinds.
	KindsAll Kind = 1<<kindCount - 1
	// KindsRead are the commands on a record that do not write.
	KindsRead = KindGet | KindExists
	// KindsWrite are the commands on a record that write; an operate that only
	// reads is among them.
	KindsWrite = KindPut | KindTouch | KindDelete | KindOperate | KindUDF
)

// kindNames are the names in the order of the bits.
const kindNames = "get exists put touch delete operate udf batch scan query background info admin job connect"

// String returns the names of the kinds in the set, parted by "|".
func (k Kind) String() string {
	var l []string
	for i, name := range strings.Fields(kindNames) {
		if k&(1<<i) != 0 {
			l = append(l, name)
		}
	}
	return strings.Join(l, "|")
}

// index is the number of the lowest bit.
func (k Kind) index() int { return bits.TrailingZeros32(uint32(k)) }

// kindOf says what a message is, and whether it writes.
func kindOf(m *wire.Message) (k Kind, writes bool) {
	writes = m.Info2&wire.Info2Write != 0
	switch {
	case m.Batch():
		return KindBatch, false
	case m.Background():
		return KindBackground, true
	case m.Scan() && m.IndexRange != nil:
		return KindQuery, writes
	case m.Scan():
		return KindScan, writes
	case m.UDFPackage != nil:
		return KindUDF, true
	case m.Info2&wire.Info2Delete != 0:
		return KindDelete, true
	case writes:
		return kindOfWrite(m), true
	case m.Info1&wire.Info1NoBins != 0:
		return KindExists, false
	}
	for i := range m.Ops {
		if m.Ops[i].Code != wire.OpRead {
			return KindOperate, false
		}
	}
	return KindGet, false
}

func kindOfWrite(m *wire.Message) Kind {
	if len(m.Ops) == 1 && m.Ops[0].Code == wire.OpTouch {
		return KindTouch
	}
	for i := range m.Ops {
		switch m.Ops[i].Code {
		case wire.OpWrite, wire.OpIncr, wire.OpAppend, wire.OpPrepend:
		default:
			return KindOperate
		}
	}
	return KindPut
}
