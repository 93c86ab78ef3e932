package udf

import (
	"math"
	"slices"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// What creating, updating and removing a record answer.
const (
	Done       = 0
	Refused    = 1  // there is one already, or none to remove
	Failed     = -1 // a value can't be stored
	NotThere   = -2 // nothing to update
	maxBins    = wire.MaxBins
	maxBinName = wire.MaxBinName
)

// A Header is what is known of a record beside its bins.
type Header struct {
	Namespace, SetName string
	Digest             store.Digest
	Key                []byte // as stored
	Exists             bool
	Generation         uint32
	TTL                int64 // seconds that are left; 0 is never
	Updated            int64 // milliseconds since 1970
}

// A Record is a record for the time of a call. What a function sets is kept when it
// creates or updates the record, and not before.
type Record struct {
	Header

	bins    []binding
	saved   []store.Bin // as the record is to be
	changed bool        // saved differs from what is stored, or is newly written
	ttl     uint32
	ttlSet  bool
}

// A binding is a bin with its value, if it was looked at or set.
type binding struct {
	bin   store.Bin
	value any
	read  bool // value is there
	set   bool // value is to be kept
}

// NewRecord returns a record with bins, which it does not change.
func NewRecord(h Header, bins []store.Bin) *Record {
	r := &Record{Header: h, saved: slices.Clone(bins)}
	for _, b := range bins {
		r.bins = append(r.bins, binding{bin: b})
	}
	return r
}

func (r *Record) find(name string) int {
	return slices.IndexFunc(r.bins, func(b binding) bool { return b.bin.Name == name })
}

// Get returns the value of a bin, or nil. Asked again it returns the same value.
func (r *Record) Get(name string) any {
	i := r.find(name)
	if i < 0 {
		return nil
	}
	b := &r.bins[i]
	if !b.read {
		b.value, b.read = Decode(b.bin.Value), true
	}
	return b.value
}

// Set gives a bin a value; nil removes it. A name that is too long is passed over,
// as on a real server.
func (r *Record) Set(name string, v any) {
	if len(name) > maxBinName || len(r.bins) >= maxBins {
		return
	}
	i := r.find(name)
	switch {
	case v == nil && i >= 0:
		r.bins = slices.Delete(r.bins, i, i+1)
	case v == nil:
	case i >= 0:
		r.bins[i].value, r.bins[i].read, r.bins[i].set = v, true, true
	default:
		r.bins = append(r.bins, binding{bin: store.Bin{Name: name}, value: v, read: true, set: true})
	}
}

// Names returns the names of the bins.
func (r *Record) Names() []string {
	l := make([]string, len(r.bins))
	for i := range r.bins {
		l[i] = r.bins[i].bin.Name
	}
	return l
}

// SetTTL sets the time to live that a create or update gives, in seconds: 0 is the
// default, -1 never, -2 as before. With one that can't be the call fails in the end.
func (r *Record) SetTTL(seconds int64) {
	if seconds < math.MinInt32 || seconds > math.MaxInt32 {
		seconds = math.MaxInt32
	}
	r.ttl, r.ttlSet = uint32(seconds), true
}

// NewTTL returns the time to live that was set, if any.
func (r *Record) NewTTL() (uint32, bool) { return r.ttl, r.ttlSet }

// Create makes the record, of the bins that were set.
func (r *Record) Create() int {
	if r.Exists {
		return Refused
	}
	return r.save()
}

// Update keeps what was set.
func (r *Record) Update() int {
	if !r.Exists {
		return NotThere
	}
	return r.save()
}

// Remove removes the record.
func (r *Record) Remove() int {
	if !r.Exists {
		return Refused
	}
	r.Exists, r.changed = false, true
	r.saved, r.bins = nil, nil
	return Done
}

func (r *Record) save() int {
	bins := make([]store.Bin, 0, len(r.bins))
	for i := range r.bins {
		b := &r.bins[i]
		if b.set {
			v, err := Encode(b.value)
			if err != nil {
				return Failed
			}
			b.bin.Value = v
		}
		bins = append(bins, b.bin)
	}
	r.saved, r.Exists, r.changed = bins, true, true
	return Done
}

// Saved returns the bins as they are to be stored, and whether there is anything to
// store: if so, and the record doesn't exist, it is to be removed.
func (r *Record) Saved() (bins []store.Bin, changed bool) { return r.saved, r.changed }
