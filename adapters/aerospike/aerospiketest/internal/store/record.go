package store

// Digest names a record within a namespace.
type Digest [20]byte

// Partitions is the number of partitions of a namespace.
const Partitions = 4096

// Partition returns the partition of the digest: the low twelve bits of its
// first two bytes, little endian.
func (d *Digest) Partition() int { return (int(d[0]) | int(d[1])<<8) & (Partitions - 1) }

// A Value is a bin's value: the particle type and the bytes of the wire.
type Value struct {
	Type byte
	Data []byte
}

// A Bin is a named value.
type Bin struct {
	Name string
	Value
}

// A Record is what a digest leads to.
type Record struct {
	Digest     Digest
	Set        string
	Key        []byte // particle type, then the key; nil if it was not sent
	Generation uint32
	Expires    int64 // nanoseconds by the clock; 0 is never
	Updated    int64 // nanoseconds of real time, which truncation compares with, of the last write or touch by a read
	Changed    int64 // the same moment, by the clock
	Bins       []Bin
}

// Expired reports whether the record's time is over.
func (r *Record) Expired(now int64) bool { return r.Expires != 0 && now >= r.Expires }

// VoidTime returns the second at which the record expires, counted from epoch
// (in Unix seconds), by a clock that is not ahead: that of the driver. It is
// rounded down, as on the real server: a time to live never shows as longer than
// it was set to.
func (r *Record) VoidTime(ahead, epoch int64) uint32 {
	if r.Expires == 0 {
		return 0
	}
	return uint32(max((r.Expires-ahead)/1e9-epoch, 1))
}

// Find returns the place of a bin, or -1.
func Find(bins []Bin, name []byte) int {
	for i := range bins {
		if bins[i].Name == string(name) {
			return i
		}
	}
	return -1
}
