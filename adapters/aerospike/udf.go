package aerospike

import (
	"context"
	"slices"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
)

// RegisterUDF puts a Lua module on the servers; the Task tells when all nodes have it.
func (c *Client) RegisterUDF(ctx context.Context, policy *as.WritePolicy, body []byte, serverPath string, language as.Language) (*Task, error) {
	return c.registerTask(opRegisterUDF)(c.registerUDF(ctx, policy, body, serverPath, language))
}

func (c *Client) registerUDF(ctx context.Context, policy *as.WritePolicy, body []byte, serverPath string, language as.Language) (*as.RegisterTask, error) {
	body = slices.Clone(body) // the call may outlive its caller
	return begun(ctx, c, opRegisterUDF, policy, "", "", func(client *as.Client, p *as.WritePolicy) (*as.RegisterTask, as.Error) {
		return client.RegisterUDF(p, body, serverPath, language)
	})
}

// RegisterUDFFromFile is RegisterUDF with the module in a file here.
func (c *Client) RegisterUDFFromFile(ctx context.Context, policy *as.WritePolicy, clientPath, serverPath string, language as.Language) (*Task, error) {
	return c.registerTask(opRegisterUDFFromFile)(c.registerUDFFromFile(ctx, policy, clientPath, serverPath, language))
}

func (c *Client) registerUDFFromFile(ctx context.Context, policy *as.WritePolicy, clientPath, serverPath string, language as.Language) (*as.RegisterTask, error) {
	return begun(ctx, c, opRegisterUDFFromFile, policy, "", "", func(client *as.Client, p *as.WritePolicy) (*as.RegisterTask, as.Error) {
		return client.RegisterUDFFromFile(p, clientPath, serverPath, language)
	})
}

// registerTask makes a Task of the driver's.
func (c *Client) registerTask(op *Operation) func(*as.RegisterTask, error) (*Task, error) {
	return func(task *as.RegisterTask, err error) (*Task, error) {
		if err != nil {
			return nil, err
		}
		return &Task{client: c, op: op, poll: task.IsDone}, nil
	}
}

// RemoveUDF removes a Lua module from the servers; the Task tells when no node has it.
func (c *Client) RemoveUDF(ctx context.Context, policy *as.WritePolicy, name string) (*Task, error) {
	task, err := c.removeUDF(ctx, policy, name)
	if err != nil {
		return nil, err
	}
	return &Task{client: c, op: opRemoveUDF, poll: task.IsDone}, nil
}

func (c *Client) removeUDF(ctx context.Context, policy *as.WritePolicy, name string) (*as.RemoveTask, error) {
	return begun(ctx, c, opRemoveUDF, policy, "", "", func(client *as.Client, p *as.WritePolicy) (*as.RemoveTask, as.Error) {
		return client.RemoveUDF(p, name)
	})
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
	err := c.administer(ctx, opListUDF, "", "", p.TotalTimeout, func(_ context.Context, cl *call, timeout time.Duration) error {
		if c.shapes() {
			p.TotalTimeout = timeout
		}
		list, aerr := cl.session.client.ListUDF(&p)
		if aerr == nil && slices.ContainsFunc(list, func(u *as.UDF) bool { return u.Filename == "" }) {
			return cl.listFailed(timeout)
		}
		*result = list
		return cl.wrap(aerr)
	})
	if err != nil {
		return nil, err
	}
	return *result, nil
}

// listFailed finds out which error it was that the driver has taken for a list of one
// module without a name.
func (cl *call) listFailed(timeout time.Duration) error {
	if _, err := cl.askAll(timeout, "udf-list"); err != nil {
		return err
	}
	return cl.wrap(&as.AerospikeError{ResultCode: types.SERVER_ERROR})
}
