package wire

import "encoding/binary"

// An Op is an operation of a request.
type Op struct {
	Code     byte
	Particle byte
	Name     []byte
	Data     []byte
}

// A Message is a parsed request. Absent fields are nil; a field that is there
// but empty is not nil. Of a field sent twice the last one counts.
type Message struct {
	Info1, Info2, Info3 byte
	Generation          uint32
	TTL                 uint32 // seconds, or the percentage of a read's touch
	Timeout             uint32 // milliseconds

	Namespace  []byte
	Set        []byte
	Digest     []byte
	Key        []byte // particle type, then the value
	Filter     []byte
	BatchAny   []byte
	BatchRead  []byte
	PIDs       []byte
	Digests    []byte
	MaxRecords []byte
	RPS        []byte
	TaskID     []byte
	IndexRange []byte
	UDFPackage []byte
	UDFOp      []byte
	SocketTO   []byte

	Ops []Op
}

// Parse reads a message's body into m, reusing m.Ops. It returns [OK], or
// [ParameterError] when counts and lengths don't fit the body; m is then partly
// filled.
func (m *Message) Parse(b []byte) Code {
	ops := m.Ops[:0]
	*m = Message{Ops: ops}
	if len(b) < HeaderSize || b[0] != HeaderSize {
		return ParameterError
	}
	m.Info1, m.Info2, m.Info3 = b[1], b[2], b[3]
	m.Generation = binary.BigEndian.Uint32(b[6:])
	m.TTL = binary.BigEndian.Uint32(b[10:])
	m.Timeout = binary.BigEndian.Uint32(b[14:])
	fields, count := binary.BigEndian.Uint16(b[18:]), binary.BigEndian.Uint16(b[20:])
	rest, ok := m.ParseFields(b[HeaderSize:], int(fields))
	if !ok {
		return ParameterError
	}
	if _, ok = m.ParseOps(rest, int(count)); !ok {
		return ParameterError
	}
	return OK
}

// ParseFields reads n fields and returns what follows them.
func (m *Message) ParseFields(b []byte, n int) ([]byte, bool) {
	for range n {
		if len(b) < 5 {
			return b, false
		}
		size := uint64(binary.BigEndian.Uint32(b))
		// The Go driver announces too long a batch when a filter stands before
		// it, and the real server takes that.
		if b[4] == FieldBatchAny || b[4] == FieldBatchRead {
			size = min(size, uint64(len(b)-4))
		}
		if size < 1 || size > uint64(len(b)-4) {
			return b, false
		}
		end := 4 + int(size)
		if p := m.field(b[4]); p != nil {
			*p = b[5:end:end]
		}
		b = b[end:]
	}
	return b, true
}

// field returns where a field's data belongs, or nil for a field that is passed
// over, as the server passes over fields it doesn't know.
func (m *Message) field(typ byte) *[]byte {
	switch typ {
	case FieldNamespace:
		return &m.Namespace
	case FieldSet:
		return &m.Set
	case FieldDigest:
		return &m.Digest
	case FieldKey:
		return &m.Key
	case FieldFilter:
		return &m.Filter
	case FieldBatchAny:
		return &m.BatchAny
	case FieldBatchRead:
		return &m.BatchRead
	case FieldPIDArray:
		return &m.PIDs
	case FieldDigestArray:
		return &m.Digests
	case FieldMaxRecords:
		return &m.MaxRecords
	case FieldRecordsPerSecond:
		return &m.RPS
	case FieldTaskID:
		return &m.TaskID
	case FieldIndexRange:
		return &m.IndexRange
	case FieldUDFPackage:
		return &m.UDFPackage
	case FieldUDFOp:
		return &m.UDFOp
	case FieldSocketTimeout:
		return &m.SocketTO
	}
	return nil
}

// ParseOps reads n operations into m.Ops, replacing what was there, and returns
// what follows them.
func (m *Message) ParseOps(b []byte, n int) ([]byte, bool) {
	m.Ops = m.Ops[:0]
	for range n {
		if len(b) < 8 {
			return b, false
		}
		size := binary.BigEndian.Uint32(b)
		name := uint32(b[7])
		if size < 4+name || uint64(size) > uint64(len(b)-4) {
			return b, false
		}
		end, value := 4+int(size), 8+int(name)
		m.Ops = append(m.Ops, Op{Code: b[4], Particle: b[5], Name: b[8:value:value], Data: b[value:end:end]})
		b = b[end:]
	}
	return b, true
}

// Scan reports whether the message is a scan or a query: one that names
// partitions, digests or a job rather than a record.
func (m *Message) Scan() bool {
	return m.Digest == nil && (m.PIDs != nil || m.Digests != nil || m.TaskID != nil || m.IndexRange != nil)
}

// Batch reports whether the message is a batch.
func (m *Message) Batch() bool { return m.BatchAny != nil || m.BatchRead != nil }
