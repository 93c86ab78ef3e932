package aerospike

import (
	"context"
	"slices"
	"strings"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// RegisterUDF puts a Lua module on the servers; the Task tells when all nodes have it.
func (c *Client) RegisterUDF(ctx context.Context, policy *as.WritePolicy, body []byte, serverPath string, language as.Language) (*Task, error) {
	_, err := c.registerUDF(ctx, policy, body, serverPath, language)
	return c.task(opRegisterUDF, 0, moduleThere(serverPath, true), err)
}

func (c *Client) registerUDF(ctx context.Context, policy *as.WritePolicy, body []byte, serverPath string, language as.Language) (*as.RegisterTask, error) {
	body = slices.Clone(body) // the call may outlive its caller
	return begun(ctx, c, opRegisterUDF, policy, "", "", func(client *as.Client, p *as.WritePolicy) (*as.RegisterTask, as.Error) {
		return client.RegisterUDF(p, body, serverPath, language)
	})
}

// RegisterUDFFromFile is RegisterUDF with the module in a file here.
func (c *Client) RegisterUDFFromFile(ctx context.Context, policy *as.WritePolicy, clientPath, serverPath string, language as.Language) (*Task, error) {
	_, err := c.registerUDFFromFile(ctx, policy, clientPath, serverPath, language)
	return c.task(opRegisterUDFFromFile, 0, moduleThere(serverPath, true), err)
}

func (c *Client) registerUDFFromFile(ctx context.Context, policy *as.WritePolicy, clientPath, serverPath string, language as.Language) (*as.RegisterTask, error) {
	return begun(ctx, c, opRegisterUDFFromFile, policy, "", "", func(client *as.Client, p *as.WritePolicy) (*as.RegisterTask, as.Error) {
		return client.RegisterUDFFromFile(p, clientPath, serverPath, language)
	})
}

// RemoveUDF removes a Lua module from the servers; the Task tells when no node has it.
func (c *Client) RemoveUDF(ctx context.Context, policy *as.WritePolicy, name string) (*Task, error) {
	_, err := c.removeUDF(ctx, policy, name)
	return c.task(opRemoveUDF, 0, moduleThere(name, false), err)
}

func (c *Client) removeUDF(ctx context.Context, policy *as.WritePolicy, name string) (*as.RemoveTask, error) {
	return begun(ctx, c, opRemoveUDF, policy, "", "", func(client *as.Client, p *as.WritePolicy) (*as.RemoveTask, as.Error) {
		return client.RemoveUDF(p, name)
	})
}

// ListUDF returns the Lua modules on the servers. The driver's own takes an error of the
// server for a module without a name.
func (c *Client) ListUDF(ctx context.Context, policy *as.BasePolicy) ([]*as.UDF, error) {
	if c.core == nil {
		return nil, errZero
	}
	e := errand{op: opListUDF, policy: either(policy, &c.defaults.base).TotalTimeout}
	return administer(ctx, c, e, func(_ context.Context, cl *call, timeout time.Duration) ([]*as.UDF, error) {
		answer, err := cl.askAny(timeout, "udf-list")
		return modules(answer), cl.wrap(err)
	})
}

// modules reads a list such as "filename=a.lua,hash=0f,type=LUA;filename=…".
func modules(answer string) []*as.UDF {
	list := []*as.UDF{}
	for module := range strings.SplitSeq(answer, ";") {
		udf := new(as.UDF)
		for field := range strings.SplitSeq(module, ",") {
			switch name, value, _ := strings.Cut(field, "="); name {
			case "filename":
				udf.Filename = value
			case "hash":
				udf.Hash = value
			case "type":
				udf.Language = as.Language(value)
			}
		}
		if udf.Filename != "" {
			list = append(list, udf)
		}
	}
	return list
}
