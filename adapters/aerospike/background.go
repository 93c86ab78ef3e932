package aerospike

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
)

// BackgroundConfig are the settings of writes that nobody waits for. Start from
// [DefaultBackgroundConfig]: the zero BackgroundConfig is not valid.
type BackgroundConfig struct {
	// Workers is how many writes are under way at once, and should be less than the
	// lane lets in: what it refuses is lost. It must be positive.
	Workers int
	// Queue is how many may wait for a worker. Zero means none.
	Queue int
	// Overflow says who goes when the queue is full; DropOldest needs one. Zero is
	// deadline.RejectNewest.
	Overflow deadline.Overflow
	// TTL is the longest time from the call to the end of the write. What isn't begun
	// by then is dropped. It must be positive.
	TTL time.Duration
	// Drain is how long Close lets accepted writes go on before it cancels them. Zero
	// means not at all.
	Drain time.Duration
	// Failed is told of each accepted write that failed, expired or was dropped, with
	// the number of records that were lost. It is called on a worker and must be quick.
	// Nil leaves it at counting.
	Failed func(ctx context.Context, f deadline.Failure)
}

// DefaultBackgroundConfig returns the settings that fit most: 4 workers, of which the
// default lane of writes has room for 16; 1000 writes that wait; 5 s for each, and for
// Close.
func DefaultBackgroundConfig() BackgroundConfig {
	return BackgroundConfig{Workers: 4, Queue: 1000, TTL: 5 * time.Second, Drain: 5 * time.Second}
}

// Background makes writes that nobody waits for, with the choices of its client. Its
// methods return as soon as the write is in a bounded queue; nil says no more than
// that. What a full queue refuses comes back as a *spillway.Rejection, and what fails
// later is counted and told to BackgroundConfig.Failed. The context that a method gets
// lends its values to the write; neither its end nor its deadline counts, unless it
// has ended already. Policies, maps and slices are copied; what they point to must not be
// changed. All methods are safe for concurrent use. The zero Background refuses
// everything. It is drained by its own Close and by that of its client, and stays
// closed.
type Background struct {
	client   *Client
	executor *deadline.Executor[struct{}]
	patience time.Duration // how long Close may take
	lost     atomic.Uint64 // records that were refused, or failed later
}

// Background returns writes that nobody waits for. A wrong configuration gives a
// *spillway.ConfigError that lists every fault.
func (c *Client) Background(cfg BackgroundConfig) (*Background, error) {
	if c.core == nil {
		return nil, errZero
	}
	b := &Background{client: c, patience: cfg.Drain + c.cfg.CloseTimeout}
	executor, err := deadline.New[struct{}](deadline.Config{
		Name: c.cfg.Name + "/background", Workers: cfg.Workers, Queue: cfg.Queue, Overflow: cfg.Overflow,
		TTL: cfg.TTL, Drain: cfg.Drain, RetryAfter: c.cfg.RetryAfter,
		Sink: func(ctx context.Context, f deadline.Failure) {
			var part *partError
			if errors.As(f.Err, &part) {
				f.Items = part.failed
			}
			b.lost.Add(uint64(f.Items)) //nolint:gosec // a number of records
			if cfg.Failed != nil {
				cfg.Failed(ctx, f)
			}
		},
	})
	e := &spillway.ConfigError{Component: "aerospike.Background", Name: c.cfg.Name}
	e.Include("", err, "TTL") // which may be zero there
	if cfg.TTL <= 0 || cfg.TTL > deadline.MaxTTL {
		e.Add("TTL", cfg.TTL, fmt.Sprintf("must be positive, and at most %v", deadline.MaxTTL))
	}
	if err := e.Err(); err != nil {
		return nil, err
	}
	b.executor = executor
	c.backgrounds.add(b)
	return b, nil
}

// Put is Client.Put in the background.
func (b *Background) Put(ctx context.Context, policy *as.WritePolicy, key *as.Key, bins as.BinMap) error {
	policy, bins = copied(policy), maps.Clone(bins)
	return b.Go(ctx, 1, func(ctx context.Context, c *Client) error { return c.Put(ctx, policy, key, bins) })
}

// PutBins is Client.PutBins in the background.
func (b *Background) PutBins(ctx context.Context, policy *as.WritePolicy, key *as.Key, bins ...*as.Bin) error {
	policy, bins = copied(policy), slices.Clone(bins)
	return b.Go(ctx, 1, func(ctx context.Context, c *Client) error { return c.PutBins(ctx, policy, key, bins...) })
}

// Add is Client.Add in the background.
func (b *Background) Add(ctx context.Context, policy *as.WritePolicy, key *as.Key, bins as.BinMap) error {
	policy, bins = copied(policy), maps.Clone(bins)
	return b.Go(ctx, 1, func(ctx context.Context, c *Client) error { return c.Add(ctx, policy, key, bins) })
}

// Touch is Client.Touch in the background.
func (b *Background) Touch(ctx context.Context, policy *as.WritePolicy, key *as.Key) error {
	policy = copied(policy)
	return b.Go(ctx, 1, func(ctx context.Context, c *Client) error { return c.Touch(ctx, policy, key) })
}

// Delete is Client.Delete in the background.
func (b *Background) Delete(ctx context.Context, policy *as.WritePolicy, key *as.Key) error {
	policy = copied(policy)
	return b.Go(ctx, 1, func(ctx context.Context, c *Client) error {
		_, err := c.Delete(ctx, policy, key)
		return err
	})
}

// Operate is Client.Operate in the background.
func (b *Background) Operate(ctx context.Context, policy *as.WritePolicy, key *as.Key, operations ...*as.Operation) error {
	policy, operations = copied(policy), slices.Clone(operations)
	return b.Go(ctx, 1, func(ctx context.Context, c *Client) error {
		_, err := c.Operate(ctx, policy, key, operations...)
		return err
	})
}

// BatchOperate is Client.BatchOperate in the background. The records are the batch's
// from then on, as are the results in them. A record that failed, or has no answer because
// its node failed, makes the batch a failed one, of which only such records count as lost.
// One that was to be deleted, or read, and isn't there has not failed. Of none there is
// nothing to do.
func (b *Background) BatchOperate(ctx context.Context, policy *as.BatchPolicy, records []as.BatchRecordIfc) error {
	if len(records) == 0 && b.executor != nil {
		return nil
	}
	policy, records = copied(policy), slices.Clone(records)
	return b.Go(ctx, len(records), func(ctx context.Context, c *Client) error {
		forget(records)
		return failedPart(records, c.BatchOperate(ctx, policy, records))
	})
}

// Go runs write in the background; it is about so many records, at least one. write
// should do all that it does with the client and the context that it gets.
func (b *Background) Go(ctx context.Context, records int, write func(ctx context.Context, c *Client) error) error {
	if b.executor == nil {
		return errZero
	}
	if ctx.Err() != nil {
		return causeOf(ctx)
	}
	err := b.executor.GoN(context.WithoutCancel(ctx), records, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, write(ctx, b.client)
	})
	if err != nil {
		b.lost.Add(uint64(max(records, 0))) // the sink isn't told
	}
	return err
}

// Stats returns what came of the writes so far: LostItems is how many records were
// lost, those that were refused included.
func (b *Background) Stats() deadline.Stats {
	if b.executor == nil {
		return deadline.Stats{}
	}
	s := b.executor.Stats()
	s.LostItems = b.lost.Load() // the executor's own has the records of a failed batch that were written, too
	return s
}

// Close refuses new writes, lets accepted ones go on for BackgroundConfig.Drain,
// cancels the rest, and returns when nothing is under way any more, at the latest
// CloseTimeout later or when ctx ends. A *deadline.CloseError says what was left
// undone. It may be called any number of times.
func (b *Background) Close(ctx context.Context) error {
	if b.executor == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, b.patience)
	defer cancel()
	err := b.executor.Close(ctx)
	b.client.backgrounds.remove(b)
	return err
}

// partError is the error of a batch of which some records failed.
type partError struct {
	failed int
	of     int
	first  error
}

// Error implements error.
func (e *partError) Error() string {
	return fmt.Sprintf("aerospike: %d of %d records failed; the first: %v", e.failed, e.of, e.first)
}

// Unwrap returns the error of the first record that failed.
func (e *partError) Unwrap() error { return e.first }

// forget removes what records say of an earlier batch, as the driver does, which may not
// be reached.
func forget(records []as.BatchRecordIfc) {
	for _, r := range records {
		if isNil(r) {
			continue // the batch will say so
		}
		rec := r.BatchRec()
		rec.Record, rec.ResultCode, rec.Err, rec.InDoubt = nil, types.NO_RESPONSE, nil, false
	}
}

// failedPart returns the error of a batch some of whose records failed; nil if none did.
// whole is the batch's own error: it is that of the records that have no answer, and of
// the batch if that are all.
func failedPart(records []as.BatchRecordIfc, whole error) error {
	e := &partError{of: len(records)}
	for _, r := range records {
		if written(r) {
			continue
		}
		if e.failed++; e.failed > 1 {
			continue
		}
		switch {
		case !isNil(r) && r.BatchRec().Err != nil:
			e.first = r.BatchRec().Err
		case whole != nil:
			e.first = whole
		default:
			e.first = &as.AerospikeError{ResultCode: r.BatchRec().ResultCode}
		}
	}
	switch {
	case whole != nil && e.failed == len(records):
		return whole
	case e.failed == 0:
		return nil
	}
	return e
}

// written reports whether what a record was about is done.
func written(r as.BatchRecordIfc) bool {
	if isNil(r) {
		return false
	}
	code := r.BatchRec().ResultCode
	if code == types.KEY_NOT_FOUND_ERROR {
		switch r.(type) {
		case *as.BatchDelete, *as.BatchRead:
			return true // there was nothing to do
		}
	}
	return code == types.OK
}

// backgrounds are those of a client that are open.
type backgrounds struct {
	mu   sync.Mutex
	open map[*Background]struct{}
}

func (l *backgrounds) add(b *Background) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[*Background]struct{}{}
	}
	l.open[b] = struct{}{}
}

func (l *backgrounds) remove(b *Background) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, b)
}

// close closes all of them, at the same time.
func (l *backgrounds) close(ctx context.Context) error {
	l.mu.Lock()
	open := slices.Collect(maps.Keys(l.open))
	l.mu.Unlock()
	errs := make([]error, len(open))
	var wg sync.WaitGroup
	for i, b := range open {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[i] = b.Close(ctx)
		}()
	}
	wg.Wait()
	return errors.Join(errs...)
}
