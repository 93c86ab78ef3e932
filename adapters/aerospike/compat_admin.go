package aerospike

import (
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// What administers the database.

func (c *compat) CreateUser(policy *as.AdminPolicy, user, password string, roles []string) as.Error {
	return c.failWrite(c.guarded.CreateUser(c.ctx, policy, user, password, roles))
}

func (c *compat) DropUser(policy *as.AdminPolicy, user string) as.Error {
	return c.failWrite(c.guarded.DropUser(c.ctx, policy, user))
}

func (c *compat) ChangePassword(policy *as.AdminPolicy, user, password string) as.Error {
	return c.failWrite(c.guarded.ChangePassword(c.ctx, policy, user, password))
}

func (c *compat) GrantRoles(policy *as.AdminPolicy, user string, roles []string) as.Error {
	return c.failWrite(c.guarded.GrantRoles(c.ctx, policy, user, roles))
}

func (c *compat) RevokeRoles(policy *as.AdminPolicy, user string, roles []string) as.Error {
	return c.failWrite(c.guarded.RevokeRoles(c.ctx, policy, user, roles))
}

func (c *compat) QueryUser(policy *as.AdminPolicy, user string) (*as.UserRoles, as.Error) {
	v, err := c.guarded.QueryUser(c.ctx, policy, user)
	return v, c.fail(err)
}

func (c *compat) QueryUsers(policy *as.AdminPolicy) ([]*as.UserRoles, as.Error) {
	v, err := c.guarded.QueryUsers(c.ctx, policy)
	return v, c.fail(err)
}

func (c *compat) CreateRole(policy *as.AdminPolicy, roleName string, privileges []as.Privilege, whitelist []string, readQuota, writeQuota uint32) as.Error {
	return c.failWrite(c.guarded.CreateRole(c.ctx, policy, roleName, privileges, whitelist, readQuota, writeQuota))
}

func (c *compat) DropRole(policy *as.AdminPolicy, roleName string) as.Error {
	return c.failWrite(c.guarded.DropRole(c.ctx, policy, roleName))
}

func (c *compat) GrantPrivileges(policy *as.AdminPolicy, roleName string, privileges []as.Privilege) as.Error {
	return c.failWrite(c.guarded.GrantPrivileges(c.ctx, policy, roleName, privileges))
}

func (c *compat) RevokePrivileges(policy *as.AdminPolicy, roleName string, privileges []as.Privilege) as.Error {
	return c.failWrite(c.guarded.RevokePrivileges(c.ctx, policy, roleName, privileges))
}

func (c *compat) SetWhitelist(policy *as.AdminPolicy, roleName string, whitelist []string) as.Error {
	return c.failWrite(c.guarded.SetWhitelist(c.ctx, policy, roleName, whitelist))
}

func (c *compat) SetQuotas(policy *as.AdminPolicy, roleName string, readQuota, writeQuota uint32) as.Error {
	return c.failWrite(c.guarded.SetQuotas(c.ctx, policy, roleName, readQuota, writeQuota))
}

func (c *compat) QueryRole(policy *as.AdminPolicy, role string) (*as.Role, as.Error) {
	v, err := c.guarded.QueryRole(c.ctx, policy, role)
	return v, c.fail(err)
}

func (c *compat) QueryRoles(policy *as.AdminPolicy) ([]*as.Role, as.Error) {
	v, err := c.guarded.QueryRoles(c.ctx, policy)
	return v, c.fail(err)
}

func (c *compat) Truncate(policy *as.InfoPolicy, namespace, set string, beforeLastUpdate *time.Time) as.Error {
	return c.failWrite(c.guarded.Truncate(c.ctx, policy, namespace, set, beforeLastUpdate))
}

func (c *compat) SetXDRFilter(policy *as.InfoPolicy, datacenter, namespace string, filter *as.Expression) as.Error {
	return c.failWrite(c.guarded.SetXDRFilter(c.ctx, policy, datacenter, namespace, filter))
}

func (c *compat) DropIndex(policy *as.WritePolicy, namespace, set, indexName string) as.Error {
	return c.failWrite(c.guarded.DropIndex(c.ctx, policy, namespace, set, indexName))
}

func (c *compat) ListUDF(policy *as.BasePolicy) ([]*as.UDF, as.Error) {
	v, err := c.guarded.ListUDF(c.ctx, policy)
	return v, c.fail(err)
}

func (c *compat) CreateIndex(policy *as.WritePolicy, namespace, set, indexName, binName string, indexType as.IndexType) (*as.IndexTask, as.Error) {
	task, err := c.guarded.createIndex(c.ctx, policy, namespace, set, indexName, binName, indexType)
	return task, c.failWrite(err)
}

func (c *compat) CreateComplexIndex(policy *as.WritePolicy, namespace, set, indexName, binName string, indexType as.IndexType, collection as.IndexCollectionType, cdt ...*as.CDTContext) (*as.IndexTask, as.Error) {
	task, err := c.guarded.createComplexIndex(c.ctx, policy, namespace, set, indexName, binName, indexType, collection, cdt)
	return task, c.failWrite(err)
}

func (c *compat) RegisterUDF(policy *as.WritePolicy, body []byte, serverPath string, language as.Language) (*as.RegisterTask, as.Error) {
	task, err := c.guarded.registerUDF(c.ctx, policy, body, serverPath, language)
	return task, c.failWrite(err)
}

func (c *compat) RegisterUDFFromFile(policy *as.WritePolicy, clientPath, serverPath string, language as.Language) (*as.RegisterTask, as.Error) {
	task, err := c.guarded.registerUDFFromFile(c.ctx, policy, clientPath, serverPath, language)
	return task, c.failWrite(err)
}

func (c *compat) RemoveUDF(policy *as.WritePolicy, name string) (*as.RemoveTask, as.Error) {
	task, err := c.guarded.removeUDF(c.ctx, policy, name)
	return task, c.failWrite(err)
}
