package security

import (
	"encoding/binary"
	"slices"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// Fields of admin commands.
const (
	fieldUser         = 0
	fieldPassword     = 1
	fieldOldPassword  = 2
	fieldCredential   = 3
	fieldClear        = 4
	fieldSessionToken = 5
	fieldSessionTTL   = 6
	fieldRoles        = 10
	fieldRole         = 11
	fieldPrivileges   = 12
	fieldWhitelist    = 13
	fieldReadQuota    = 14
	fieldWriteQuota   = 15
	fieldConnections  = 18
)

// headerSize is that of the header of a command or an entry of an answer.
const headerSize = 16

// A request is an admin command. A field that isn't there is nil.
type request struct {
	command byte
	fields  [fieldConnections + 1][]byte
}

// parse reads a command. The number of fields that it announces isn't looked at: the
// Go driver sends one more, when a role is created with a single privilege or a
// single address.
func parse(b []byte) (*request, bool) {
	if len(b) < headerSize {
		return nil, false
	}
	r := &request{command: b[2]}
	for b = b[headerSize:]; len(b) > 0; {
		if len(b) < 5 {
			return nil, false
		}
		n := uint64(binary.BigEndian.Uint32(b))
		if n < 1 || n > uint64(len(b)-4) {
			return nil, false
		}
		if id := b[4]; int(id) < len(r.fields) {
			r.fields[id] = b[5 : 4+n : 4+n]
		}
		b = b[4+n:]
	}
	return r, true
}

func (r *request) text(id int) string { return string(r.fields[id]) }

func (r *request) number(id int) uint32 {
	if len(r.fields[id]) != 4 {
		return 0
	}
	return binary.BigEndian.Uint32(r.fields[id])
}

// short cuts a text of up to 255 bytes off.
func short(b []byte) (text string, rest []byte, ok bool) {
	if len(b) == 0 || len(b) < 1+int(b[0]) {
		return "", b, false
	}
	end := 1 + int(b[0])
	return string(b[1:end]), b[end:], true
}

// roles reads a list of names.
func (r *request) roles() ([]string, bool) {
	b := r.fields[fieldRoles]
	if len(b) == 0 {
		return nil, true
	}
	var l []string
	n, b := int(b[0]), b[1:]
	for range n {
		name, rest, ok := short(b)
		if !ok {
			return nil, false
		}
		b = rest
		if !slices.Contains(l, name) {
			l = append(l, name)
		}
	}
	return l, true
}

// privileges reads a list of privileges.
func (r *request) privileges() ([]Privilege, bool) {
	b := r.fields[fieldPrivileges]
	if len(b) == 0 {
		return nil, true
	}
	var l []Privilege
	n, b := int(b[0]), b[1:]
	for range n {
		if len(b) == 0 || !Code(b[0]).valid() {
			return nil, false
		}
		p := Privilege{Code: Code(b[0])}
		b = b[1:]
		if p.Code.scoped() {
			var ok, ok2 bool
			p.Namespace, b, ok = short(b)
			p.Set, b, ok2 = short(b)
			if !ok || !ok2 || p.Namespace == "" && p.Set != "" {
				return nil, false
			}
		}
		if !slices.Contains(l, p) {
			l = append(l, p)
		}
	}
	return l, true
}

// An entry is an answer, or a part of one.
type entry struct {
	code   byte
	fields int
	data   []byte
}

func (e *entry) add(id byte, data []byte) {
	e.fields++
	e.data = append(binary.BigEndian.AppendUint32(e.data, uint32(len(data)+1)), id)
	e.data = append(e.data, data...)
}

func (e *entry) addNumber(id byte, n uint32) { e.add(id, binary.BigEndian.AppendUint32(nil, n)) }

// frame appends a frame of entries, unless there are none. The end of a list needs one of its own: the Go
// driver forgets what stands before it in a frame.
func frame(b []byte, entries ...*entry) []byte {
	if len(entries) == 0 {
		return b
	}
	at := len(b)
	b = wire.AppendFrame(b, wire.TypeAdmin)
	for _, e := range entries {
		b = append(b, 0, e.code, 0, byte(e.fields), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		b = append(b, e.data...)
	}
	wire.EndFrame(b, at)
	return b
}
