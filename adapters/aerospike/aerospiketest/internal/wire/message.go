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

	BVals        []byte
	IndexName    []byte
	IndexType    []byte
	IndexContext []byte
	QueryBins    []byte
	UDFFunction  []byte
	UDFArgs      []byte

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
	case FieldUDFFunction:
		return &m.UDFFunction
	case FieldUDFArgs:
		return &m.UDFArgs
	case FieldUDFOp:
		return &m.UDFOp
	case FieldSocketTimeout:
		return &m.SocketTO
	}
	return m.queryField(typ)
}

// queryField is field for those that only queries have.
func (m *Message) queryField(typ byte) *[]byte {
	switch typ {
	case FieldBValArray:
		return &m.BVals
	case FieldIndexName:
		return &m.IndexName
	case FieldIndexType:
		return &m.IndexType
	case FieldIndexContext:
		return &m.IndexContext
	case FieldQueryBins:
		return &m.QueryBins
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

// Background reports whether the message is a scan or a query that changes records
// and answers none.
func (m *Message) Background() bool {
	return m.Scan() && (m.Info2&Info2Write != 0 || len(m.UDFOp) == 1 && m.UDFOp[0] == UDFBackground)
}

// Aggregation reports whether the message is a query that answers with what a
// function makes of records.
func (m *Message) Aggregation() bool {
	return m.Scan() && m.UDFPackage != nil && len(m.UDFOp) == 1 && m.UDFOp[0] == UDFAggregate
}

// Job returns the number of the job that a scan or query names; 0 is none.
func (m *Message) Job() uint64 {
	if len(m.TaskID) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(m.TaskID)
}

// SocketTimeout returns the timeout of a scan's or query's socket in
// milliseconds; 0 is none.
func (m *Message) SocketTimeout() uint32 {
	if len(m.SocketTO) != 4 {
		return 0
	}
	return binary.BigEndian.Uint32(m.SocketTO)
}

// BatchSize returns how many records a batch says it asks for.
func (m *Message) BatchSize() int {
	b := m.BatchAny
	if b == nil {
		b = m.BatchRead
	}
	if len(b) < 4 {
		return 0
	}
	return int(binary.BigEndian.Uint32(b))
}

// Batch reports whether the message is a batch.
func (m *Message) Batch() bool { return m.BatchAny != nil || m.BatchRead != nil }
