package aerospike

import (
	"context"
	"slices"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
)

// What administers the database goes over the one connection that the driver keeps to
// each node, which it also tends the cluster with. So it has a lane of its own, and
// runs apart: the driver waits for that connection without a limit, and the caller
// shouldn't. If ctx ends first, or the call's own time, the call is left, and the permit
// comes back when the driver is done; what was asked for may still happen: see
// [DetachedError].

// defaultAdminTimeout is the time of a call whose context and policy say nothing.
const defaultAdminTimeout = 3 * time.Second

// errand is what a call of administration is about.
type errand struct {
	op             *Operation
	namespace, set string        // if it is about any
	policy         time.Duration // the time that its policy gives
	waits          bool          // whether it waits for the end of what it began: see waitUntil
}

// administer runs a call of administration. f gets the time that is left, and must
// write only to what belongs to this attempt alone.
func administer[T any](ctx context.Context, c *Client, e errand, f func(ctx context.Context, cl *call, timeout time.Duration) (T, error)) (none T, _ error) {
	if c.core == nil {
		return none, errZero
	}
	var result T
	cl := &call{client: c.core, trip: trip{op: e.op, choices: &c.choices, ns: e.namespace, set: e.set, attempts: 1, rows: -1, lane: c.lanes.admin}}
	err := c.do(ctx, &cl.trip, func(ctx context.Context) (err error) {
		if err = c.open(ctx, cl); err != nil {
			return err
		}
		began := time.Now()
		if err = cl.admitting(ctx, func() error { return cl.admitAdmin(ctx, e.policy) }); err != nil {
			return err
		}
		end := cl.budget.ends()
		if e.waits {
			end = cl.waitUntil(ctx, began)
		}
		result, err = askApart(ctx, cl, end, f)
		return err
	})
	if err != nil { // of a middleware, perhaps
		return none, err
	}
	return result, nil
}

// askApart is an attempt of administer, which has its permit, and whose caller leaves at
// end.
func askApart[T any](ctx context.Context, cl *call, end time.Time, f func(context.Context, *call, time.Duration) (T, error)) (T, error) {
	ctx, stop := cl.bounded(ctx, end)
	defer stop()
	s := new(sending)
	return apart(ctx, cl, s, func(cl *call) (none T, _ error) {
		left, err := cl.reachable()
		if err != nil {
			return none, err
		}
		s.start()
		if ctx.Err() != nil { // who left before, was told that nothing was sent
			return none, causeOf(ctx)
		}
		cl.start()
		return f(ctx, cl, left)
	})
}

// asking is a call of the driver's for administer.
func asking[T any](f func(client *as.Client, timeout time.Duration) (T, as.Error)) func(context.Context, *call, time.Duration) (T, error) {
	return func(_ context.Context, cl *call, timeout time.Duration) (T, error) {
		result, err := f(cl.session.client, timeout)
		return result, cl.wrap(err)
	}
}

// admitAdmin allots the time of a call of administration and takes a permit for it.
func (cl *call) admitAdmin(ctx context.Context, policy time.Duration) (err error) {
	if err = cl.allot(ctx, policy, defaultAdminTimeout); err != nil {
		return err
	}
	if !cl.trip.choices.bypass {
		cl.permit, err = cl.admit(ctx, cl.session.admin)
	}
	return cl.client.refusal(err)
}

// reachable asks every node for its name, and returns the time that is left then. The
// driver picks a node at random, and takes one that it has no connection to for one
// that answered nothing: a user that wasn't created is then created, and a list that
// wasn't read is empty. In modes Shadow and Off nobody is asked.
func (cl *call) reachable() (left time.Duration, err error) {
	if !cl.client.shapes() {
		return cl.budget.total, nil
	}
	if left, err = cl.remaining(); err != nil {
		return 0, err
	}
	if _, err = cl.askAll(left, "node", types.OK); err != nil {
		return 0, err
	}
	return cl.remaining()
}

// remaining is what is left of the attempt's time: a millisecond, or it is over.
func (cl *call) remaining() (time.Duration, error) {
	left := cl.budget.left()
	if left < time.Millisecond {
		return 0, cl.wrap(&as.AerospikeError{ResultCode: types.TIMEOUT})
	}
	return left, nil
}

// secure is securely for calls without a result.
func (c *Client) secure(ctx context.Context, op *Operation, policy *as.AdminPolicy, f func(*as.Client, *as.AdminPolicy) as.Error) error {
	_, err := securely(ctx, c, op, policy, func(client *as.Client, p *as.AdminPolicy) (struct{}, as.Error) {
		return struct{}{}, f(client, p)
	})
	return err
}

// securely is administer for users and roles.
func securely[T any](ctx context.Context, c *Client, op *Operation, policy *as.AdminPolicy, f func(*as.Client, *as.AdminPolicy) (T, as.Error)) (none T, _ error) {
	if c.core == nil {
		return none, errZero
	}
	given := *either(policy, &c.defaults.admin)
	return administer(ctx, c, errand{op: op, policy: given.Timeout}, asking(func(client *as.Client, timeout time.Duration) (T, as.Error) {
		p := given
		if c.shapes() {
			p.Timeout = timeout
		}
		return f(client, &p)
	}))
}

// Lists are copied, for a call may outlive its caller.

// CreateUser creates a user with a password and roles.
func (c *Client) CreateUser(ctx context.Context, policy *as.AdminPolicy, user, password string, roles []string) error {
	roles = slices.Clone(roles)
	return c.secure(ctx, opCreateUser, policy, func(client *as.Client, p *as.AdminPolicy) as.Error {
		return client.CreateUser(p, user, password, roles)
	})
}

// DropUser removes a user.
func (c *Client) DropUser(ctx context.Context, policy *as.AdminPolicy, user string) error {
	return c.secure(ctx, opDropUser, policy, func(client *as.Client, p *as.AdminPolicy) as.Error {
		return client.DropUser(p, user)
	})
}

// ChangePassword changes a user's password.
func (c *Client) ChangePassword(ctx context.Context, policy *as.AdminPolicy, user, password string) error {
	return c.secure(ctx, opChangePassword, policy, func(client *as.Client, p *as.AdminPolicy) as.Error {
		return client.ChangePassword(p, user, password)
	})
}

// GrantRoles adds roles to a user's.
func (c *Client) GrantRoles(ctx context.Context, policy *as.AdminPolicy, user string, roles []string) error {
	roles = slices.Clone(roles)
	return c.secure(ctx, opGrantRoles, policy, func(client *as.Client, p *as.AdminPolicy) as.Error {
		return client.GrantRoles(p, user, roles)
	})
}

// RevokeRoles takes roles from a user.
func (c *Client) RevokeRoles(ctx context.Context, policy *as.AdminPolicy, user string, roles []string) error {
	roles = slices.Clone(roles)
	return c.secure(ctx, opRevokeRoles, policy, func(client *as.Client, p *as.AdminPolicy) as.Error {
		return client.RevokeRoles(p, user, roles)
	})
}

// QueryUser returns a user's roles.
func (c *Client) QueryUser(ctx context.Context, policy *as.AdminPolicy, user string) (*as.UserRoles, error) {
	return securely(ctx, c, opQueryUser, policy, func(client *as.Client, p *as.AdminPolicy) (*as.UserRoles, as.Error) {
		return client.QueryUser(p, user)
	})
}

// QueryUsers returns all users with their roles.
func (c *Client) QueryUsers(ctx context.Context, policy *as.AdminPolicy) ([]*as.UserRoles, error) {
	return securely(ctx, c, opQueryUsers, policy, func(client *as.Client, p *as.AdminPolicy) ([]*as.UserRoles, as.Error) {
		return client.QueryUsers(p)
	})
}

// CreateRole creates a role with privileges, a whitelist of addresses, and quotas.
func (c *Client) CreateRole(ctx context.Context, policy *as.AdminPolicy, roleName string, privileges []as.Privilege, whitelist []string, readQuota, writeQuota uint32) error {
	privileges, whitelist = slices.Clone(privileges), slices.Clone(whitelist)
	return c.secure(ctx, opCreateRole, policy, func(client *as.Client, p *as.AdminPolicy) as.Error {
		return client.CreateRole(p, roleName, privileges, whitelist, readQuota, writeQuota)
	})
}

// DropRole removes a role.
func (c *Client) DropRole(ctx context.Context, policy *as.AdminPolicy, roleName string) error {
	return c.secure(ctx, opDropRole, policy, func(client *as.Client, p *as.AdminPolicy) as.Error {
		return client.DropRole(p, roleName)
	})
}

// GrantPrivileges adds privileges to a role's.
func (c *Client) GrantPrivileges(ctx context.Context, policy *as.AdminPolicy, roleName string, privileges []as.Privilege) error {
	privileges = slices.Clone(privileges)
	return c.secure(ctx, opGrantPrivileges, policy, func(client *as.Client, p *as.AdminPolicy) as.Error {
		return client.GrantPrivileges(p, roleName, privileges)
	})
}

// RevokePrivileges takes privileges from a role.
func (c *Client) RevokePrivileges(ctx context.Context, policy *as.AdminPolicy, roleName string, privileges []as.Privilege) error {
	privileges = slices.Clone(privileges)
	return c.secure(ctx, opRevokePrivileges, policy, func(client *as.Client, p *as.AdminPolicy) as.Error {
		return client.RevokePrivileges(p, roleName, privileges)
	})
}

// SetWhitelist sets the addresses from which a role may be used.
func (c *Client) SetWhitelist(ctx context.Context, policy *as.AdminPolicy, roleName string, whitelist []string) error {
	whitelist = slices.Clone(whitelist)
	return c.secure(ctx, opSetWhitelist, policy, func(client *as.Client, p *as.AdminPolicy) as.Error {
		return client.SetWhitelist(p, roleName, whitelist)
	})
}

// SetQuotas sets how many reads and writes a second a role allows.
func (c *Client) SetQuotas(ctx context.Context, policy *as.AdminPolicy, roleName string, readQuota, writeQuota uint32) error {
	return c.secure(ctx, opSetQuotas, policy, func(client *as.Client, p *as.AdminPolicy) as.Error {
		return client.SetQuotas(p, roleName, readQuota, writeQuota)
	})
}

// QueryRole returns a role.
func (c *Client) QueryRole(ctx context.Context, policy *as.AdminPolicy, role string) (*as.Role, error) {
	return securely(ctx, c, opQueryRole, policy, func(client *as.Client, p *as.AdminPolicy) (*as.Role, as.Error) {
		return client.QueryRole(p, role)
	})
}

// QueryRoles returns all roles.
func (c *Client) QueryRoles(ctx context.Context, policy *as.AdminPolicy) ([]*as.Role, error) {
	return securely(ctx, c, opQueryRoles, policy, func(client *as.Client, p *as.AdminPolicy) ([]*as.Role, as.Error) {
		return client.QueryRoles(p)
	})
}
