package aerospike

import (
	"context"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// Reader reads single records. It is for code that wants to be tested without a
// client; define your own if you need fewer methods.
type Reader interface {
	// As the methods of Client.
	Get(ctx context.Context, policy *as.BasePolicy, key *as.Key, binNames ...string) (*as.Record, error)
	GetHeader(ctx context.Context, policy *as.BasePolicy, key *as.Key) (*as.Record, error)
	Exists(ctx context.Context, policy *as.BasePolicy, key *as.Key) (bool, error)
}

// Writer writes single records: see [Reader].
type Writer interface {
	// As the methods of Client.
	Put(ctx context.Context, policy *as.WritePolicy, key *as.Key, bins as.BinMap) error
	Add(ctx context.Context, policy *as.WritePolicy, key *as.Key, bins as.BinMap) error
	Touch(ctx context.Context, policy *as.WritePolicy, key *as.Key) error
	Delete(ctx context.Context, policy *as.WritePolicy, key *as.Key) (bool, error)
	Operate(ctx context.Context, policy *as.WritePolicy, key *as.Key, operations ...*as.Operation) (*as.Record, error)
}

// Batcher works on many records at once: see [Reader].
type Batcher interface {
	// As the methods of Client.
	BatchGet(ctx context.Context, policy *as.BatchPolicy, keys []*as.Key, binNames ...string) ([]*as.Record, error)
	BatchExists(ctx context.Context, policy *as.BatchPolicy, keys []*as.Key) ([]bool, error)
	BatchOperate(ctx context.Context, policy *as.BatchPolicy, records []as.BatchRecordIfc) error
	BatchDelete(ctx context.Context, policy *as.BatchPolicy, deletePolicy *as.BatchDeletePolicy, keys []*as.Key) ([]*as.BatchRecord, error)
}

// Streamer reads sets of records: see [Reader].
type Streamer interface {
	// As the methods of Client.
	ScanAll(ctx context.Context, policy *as.ScanPolicy, namespace, set string, binNames ...string) (*Stream, error)
	Query(ctx context.Context, policy *as.QueryPolicy, statement *as.Statement) (*Stream, error)
}

var (
	_ Reader   = (*Client)(nil)
	_ Writer   = (*Client)(nil)
	_ Batcher  = (*Client)(nil)
	_ Streamer = (*Client)(nil)
)
