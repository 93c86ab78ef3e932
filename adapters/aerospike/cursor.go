package aerospike

import (
	"slices"
	"sync"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// cursor sees to it that a partition filter says what was read. The driver leaves one that
// was done before done, although it then fails; it calls one done whose stream was broken
// off, or ended by an error that it doesn't resume after; and what it has put into its queue
// counts as read, whether or not somebody has come to read it. The zero cursor has no filter.
type cursor struct {
	filter *as.PartitionFilter
	follow bool // whether the filter is the caller's, who may go on where he was

	mu      sync.Mutex
	places  []place // in each partition: where the reader is; nil if he isn't followed
	settled bool
}

// place is the last record of a partition that was read.
type place struct {
	digest []byte
	value  int64 // of a query's index
}

// begin is called before the driver has the filter. maxRecords is the policy's: without it,
// all partitions are read, and each still has to be; with it, those that say so.
func (c *cursor) begin(maxRecords int64) {
	if c == nil || c.filter == nil {
		return
	}
	f := c.filter
	f.Done = false
	all := maxRecords <= 0 || f.Retry
	for _, p := range f.Partitions {
		p.Retry = p.Retry || all
	}
	if !c.follow || len(f.Partitions) == 0 && f.Count <= 0 {
		return // the driver will say what is wrong with it
	}
	if len(f.Partitions) == 0 {
		c.places = make([]place, min(f.Count, partitions))
		c.places[0].digest = f.Digest
		return
	}
	c.places = make([]place, len(f.Partitions))
	for i, p := range f.Partitions {
		c.places[i] = place{p.Digest, p.BVal}
	}
}

// pass notes that a record goes to the reader.
func (c *cursor) pass(r *as.Result) {
	if !c.follow || r.Record.Key == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	i := r.Record.Key.PartitionId() - c.filter.Begin
	if i < 0 || i >= len(c.places) {
		return
	}
	c.places[i].digest = r.Record.Key.Digest()
	if r.BVal != nil {
		c.places[i].value = *r.BVal
	}
}

// through reports whether the driver has come through all that it was to read, or as much
// as it was to read at most. It is asked when the driver has ended, and means nothing
// after an error that the driver doesn't resume after.
func (c *cursor) through() bool {
	f := c.filter
	return f != nil && (f.Done || !f.Retry || !slices.ContainsFunc(f.Partitions, func(p *as.PartitionStatus) bool { return p.Retry }))
}

// settle is called when the driver has ended, the first time by whoever knows whether all
// went well. If it didn't, the filter isn't done, and goes on behind the last record that
// was read.
func (c *cursor) settle(well bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.filter == nil || c.settled {
		return
	}
	c.settled = true
	if well {
		return
	}
	c.filter.Done, c.filter.Retry = false, true
	for i, p := range c.filter.Partitions {
		p.Retry = true
		if i < len(c.places) {
			p.Digest, p.BVal = c.places[i].digest, c.places[i].value
		}
	}
}
