package aerospike

import (
	"context"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lifecycle"
)

// Clusters returns a registry of clients for several clusters, by names of your own.
// A cluster is connected to when it is first asked for, with what config says, which
// may be called for each dial; a connection is dialled once, however many ask. Whoever
// gets a lease may use the client until he releases it. Close of the registry closes
// all clients. Each configuration should have a Name of its own, its cluster's, say:
// errors, logs and telemetry go by it, and DefaultConfig's is the same for all. A nil
// config gives a *spillway.ConfigError.
//
//	lease, err := clusters.Get(ctx, "eu")
//	if err != nil {
//		return err
//	}
//	defer lease.Release()
//	record, err := lease.Conn().Get(ctx, nil, key)
func Clusters(name string, config func(cluster string) (Config, error)) (*lifecycle.Registry[string, *Client], error) {
	if config == nil {
		e := &spillway.ConfigError{Component: "aerospike.Clusters", Name: name}
		e.Add("config", nil, "must not be nil")
		return nil, e
	}
	dial := func(ctx context.Context, cluster string) (*Client, error) {
		cfg, err := config(cluster)
		if err != nil {
			return nil, err
		}
		client, err := New(cfg)
		if err != nil {
			return nil, err
		}
		if err := client.Connect(ctx); err != nil {
			return nil, err
		}
		return client, nil
	}
	return lifecycle.NewRegistry(lifecycle.DefaultRegistryConfig(name, dial, func(ctx context.Context, client *Client) error {
		return client.Close(ctx)
	}))
}
