package aerospiketest

import (
	"errors"
	"time"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/udf"
)

// Errors of a [UDFRecord].
var (
	// ErrRecordExists is that of creating a record that is there.
	ErrRecordExists = errors.New("aerospiketest: the record exists")
	// ErrNoRecord is that of updating or removing a record that isn't there.
	ErrNoRecord = errors.New("aerospiketest: there is no record")
	errUnfit    = errors.New("aerospiketest: a bin's value can't be stored")
)

// A UDFRecord is the record that a function in Go was called with, which need not
// exist. It is valid during the call, and belongs to its goroutine. What is set is
// kept by Create or Update, and not before.
type UDFRecord struct{ rec *udf.Record }

// Exists reports whether there is a record.
func (r *UDFRecord) Exists() bool { return r.rec.Exists }

// Get returns a bin's value, or nil. To change a list or map, set the bin to it.
func (r *UDFRecord) Get(bin string) any { return outward(r.rec.Get(bin)) }

// Set gives a bin a value; nil removes it. A name of more than 15 bytes is passed
// over, as by a real server. It fails, and sets nothing, for a type that can't be
// stored.
func (r *UDFRecord) Set(bin string, v any) error {
	x, err := inward(v, 0)
	if err != nil {
		return err
	}
	r.rec.Set(bin, x)
	return nil
}

// Bins returns the names of the bins, those that were set too.
func (r *UDFRecord) Bins() []string { return r.rec.Names() }

// Create makes the record. It fails with ErrRecordExists if there is one.
func (r *UDFRecord) Create() error { return udfError(r.rec.Create(), ErrRecordExists) }

// Update keeps what was set. It fails with ErrNoRecord if there is no record.
func (r *UDFRecord) Update() error { return udfError(r.rec.Update(), ErrNoRecord) }

// Remove removes the record. It fails with ErrNoRecord if there is none.
func (r *UDFRecord) Remove() error { return udfError(r.rec.Remove(), ErrNoRecord) }

func udfError(n int, refused error) error {
	switch n {
	case udf.Done:
		return nil
	case udf.Failed:
		return errUnfit
	}
	return refused
}

// Key returns the key, if it is stored or was sent, or nil.
func (r *UDFRecord) Key() any { return outward(udf.Key(r.rec.Key)) }

// Digest returns the digest.
func (r *UDFRecord) Digest() [20]byte { return r.rec.Digest }

// Namespace returns the name of the namespace.
func (r *UDFRecord) Namespace() string { return r.rec.Namespace }

// SetName returns the name of the set.
func (r *UDFRecord) SetName() string { return r.rec.SetName }

// Generation returns the generation, or 0.
func (r *UDFRecord) Generation() uint32 { return r.rec.Generation }

// TTL returns the time to live that is left, in whole seconds; 0 is without end.
func (r *UDFRecord) TTL() time.Duration { return time.Duration(r.rec.TTL) * time.Second }

// SetTTL sets the time to live that Create or Update gives, in whole seconds. Zero
// is the namespace's default, -1 second never, -2 seconds as before.
func (r *UDFRecord) SetTTL(d time.Duration) { r.rec.SetTTL(int64(d / time.Second)) }
