package aerospike

import (
	"context"
	"slices"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// RegisterUDF puts a Lua module on the servers; the Task tells when all nodes have it.
func (c *Client) RegisterUDF(ctx context.Context, policy *as.WritePolicy, body []byte, serverPath string, language as.Language) (*Task, error) {
	body = slices.Clone(body) // the call may outlive its caller
	return c.registerUDF(ctx, opRegisterUDF, policy, func(client *as.Client, p *as.WritePolicy) (*as.RegisterTask, as.Error) {
		return client.RegisterUDF(p, body, serverPath, language)
	})
}

// RegisterUDFFromFile is RegisterUDF with the module in a file here.
func (c *Client) RegisterUDFFromFile(ctx context.Context, policy *as.WritePolicy, clientPath, serverPath string, language as.Language) (*Task, error) {
	return c.registerUDF(ctx, opRegisterUDFFromFile, policy, func(client *as.Client, p *as.WritePolicy) (*as.RegisterTask, as.Error) {
		return client.RegisterUDFFromFile(p, clientPath, serverPath, language)
	})
}

func (c *Client) registerUDF(ctx context.Context, op *Operation, policy *as.WritePolicy, f func(*as.Client, *as.WritePolicy) (*as.RegisterTask, as.Error)) (*Task, error) {
	result := new(*as.RegisterTask)
	err := c.timed(ctx, op, policy, "", "", func(client *as.Client, p *as.WritePolicy) (aerr as.Error) {
		*result, aerr = f(client, p)
		return aerr
	})
	if err != nil {
		return nil, err
	}
	return &Task{client: c, op: op, poll: (*result).IsDone}, nil
}

// RemoveUDF removes a Lua module from the servers; the Task tells when no node has it.
func (c *Client) RemoveUDF(ctx context.Context, policy *as.WritePolicy, name string) (*Task, error) {
	result := new(*as.RemoveTask)
	err := c.timed(ctx, opRemoveUDF, policy, "", "", func(client *as.Client, p *as.WritePolicy) (aerr as.Error) {
		*result, aerr = client.RemoveUDF(p, name)
		return aerr
	})
	if err != nil {
		return nil, err
	}
	return &Task{client: c, op: opRemoveUDF, poll: (*result).IsDone}, nil
}

// ListUDF returns the Lua modules on the servers.
func (c *Client) ListUDF(ctx context.Context, policy *as.BasePolicy) ([]*as.UDF, error) {
	if c.core == nil {
		return nil, errZero
	}
	if policy == nil {
		policy = c.defaults.base.Load()
	}
	p := *policy
	result := new([]*as.UDF)
	err := c.administer(ctx, opListUDF, "", "", p.TotalTimeout, func(client *as.Client, timeout time.Duration) (aerr as.Error) {
		if c.shapes() {
			p.TotalTimeout = timeout
		}
		*result, aerr = client.ListUDF(&p)
		return aerr
	})
	if err != nil {
		return nil, err
	}
	return *result, nil
}
