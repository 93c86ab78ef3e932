package wire

import "encoding/binary"

// AppendFrame appends the header of a frame whose length is set later by
// [EndFrame].
func AppendFrame(b []byte, typ byte) []byte {
	return append(b, Version, typ, 0, 0, 0, 0, 0, 0)
}

// EndFrame sets the length of the frame that starts at b[at:] and goes to the
// end of b.
func EndFrame(b []byte, at int) {
	n := uint64(len(b) - at - FrameSize)
	binary.BigEndian.PutUint64(b[at:], uint64(Version)<<56|uint64(b[at+1])<<48|n)
}

// A Header is that of an answer.
type Header struct {
	Info3      byte
	Code       Code
	Generation uint32
	VoidTime   uint32
	Index      uint32 // of the record in a batch
	Fields     int
	Ops        int
}

// AppendHeader appends a message's header.
func AppendHeader(b []byte, h Header) []byte {
	b = append(b, HeaderSize, 0, 0, h.Info3, 0, byte(h.Code))
	b = binary.BigEndian.AppendUint32(b, h.Generation)
	b = binary.BigEndian.AppendUint32(b, h.VoidTime)
	b = binary.BigEndian.AppendUint32(b, h.Index)
	b = binary.BigEndian.AppendUint16(b, uint16(h.Fields))
	return binary.BigEndian.AppendUint16(b, uint16(h.Ops))
}

// SetHeader overwrites the header at b[at:].
func SetHeader(b []byte, at int, h Header) {
	AppendHeader(b[:at], h)
}

// AppendField appends a field.
func AppendField(b []byte, typ byte, data []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(data)+1))
	return append(append(b, typ), data...)
}

// AppendFieldString is [AppendField] of a string.
func AppendFieldString(b []byte, typ byte, data string) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(data)+1))
	return append(append(b, typ), data...)
}

// AppendFieldLittle appends a field that is a number in little endian.
func AppendFieldLittle(b []byte, typ byte, n int64) []byte {
	b = append(binary.BigEndian.AppendUint32(b, 9), typ)
	return binary.LittleEndian.AppendUint64(b, uint64(n))
}

// AppendOp appends an operation's answer.
func AppendOp[S ~string | ~[]byte](b []byte, code, particle byte, name S, data []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(4+len(name)+len(data)))
	b = append(b, code, particle, 0, byte(len(name)))
	return append(append(b, name...), data...)
}

// AppendLast appends the frame that ends a batch or a scan.
func AppendLast(b []byte, code Code) []byte {
	at := len(b)
	b = AppendHeader(AppendFrame(b, TypeMessage), Header{Info3: Info3Last, Code: code})
	EndFrame(b, at)
	return b
}

// AppendResult appends a frame of one message without fields or operations.
func AppendResult(b []byte, h Header) []byte {
	at := len(b)
	b = AppendHeader(AppendFrame(b, TypeMessage), h)
	EndFrame(b, at)
	return b
}
