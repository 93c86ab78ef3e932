package aerospike

import (
	as "github.com/aerospike/aerospike-client-go/v7"
)

// Calls for single records.

func (c *compat) Get(policy *as.BasePolicy, key *as.Key, binNames ...string) (*as.Record, as.Error) {
	v, err := c.guarded.Get(c.ctx, policy, key, binNames...)
	return v, c.fail(err)
}

func (c *compat) GetHeader(policy *as.BasePolicy, key *as.Key) (*as.Record, as.Error) {
	v, err := c.guarded.GetHeader(c.ctx, policy, key)
	return v, c.fail(err)
}

func (c *compat) Exists(policy *as.BasePolicy, key *as.Key) (bool, as.Error) {
	v, err := c.guarded.Exists(c.ctx, policy, key)
	return v, c.fail(err)
}

func (c *compat) GetObject(policy *as.BasePolicy, key *as.Key, obj any) as.Error {
	return c.fail(c.guarded.GetObject(c.ctx, policy, key, obj))
}

func (c *compat) Put(policy *as.WritePolicy, key *as.Key, bins as.BinMap) as.Error {
	return c.failWrite(c.guarded.Put(c.ctx, policy, key, bins))
}

func (c *compat) PutBins(policy *as.WritePolicy, key *as.Key, bins ...*as.Bin) as.Error {
	return c.failWrite(c.guarded.PutBins(c.ctx, policy, key, bins...))
}

func (c *compat) Add(policy *as.WritePolicy, key *as.Key, bins as.BinMap) as.Error {
	return c.failWrite(c.guarded.Add(c.ctx, policy, key, bins))
}

func (c *compat) AddBins(policy *as.WritePolicy, key *as.Key, bins ...*as.Bin) as.Error {
	return c.failWrite(c.guarded.AddBins(c.ctx, policy, key, bins...))
}

func (c *compat) Append(policy *as.WritePolicy, key *as.Key, bins as.BinMap) as.Error {
	return c.failWrite(c.guarded.Append(c.ctx, policy, key, bins))
}

func (c *compat) AppendBins(policy *as.WritePolicy, key *as.Key, bins ...*as.Bin) as.Error {
	return c.failWrite(c.guarded.AppendBins(c.ctx, policy, key, bins...))
}

func (c *compat) Prepend(policy *as.WritePolicy, key *as.Key, bins as.BinMap) as.Error {
	return c.failWrite(c.guarded.Prepend(c.ctx, policy, key, bins))
}

func (c *compat) PrependBins(policy *as.WritePolicy, key *as.Key, bins ...*as.Bin) as.Error {
	return c.failWrite(c.guarded.PrependBins(c.ctx, policy, key, bins...))
}

func (c *compat) PutObject(policy *as.WritePolicy, key *as.Key, obj any) as.Error {
	return c.failWrite(c.guarded.PutObject(c.ctx, policy, key, obj))
}

func (c *compat) Touch(policy *as.WritePolicy, key *as.Key) as.Error {
	return c.failWrite(c.guarded.Touch(c.ctx, policy, key))
}

func (c *compat) Delete(policy *as.WritePolicy, key *as.Key) (bool, as.Error) {
	v, err := c.guarded.Delete(c.ctx, policy, key)
	return v, c.failWrite(err)
}

func (c *compat) Operate(policy *as.WritePolicy, key *as.Key, operations ...*as.Operation) (*as.Record, as.Error) {
	v, err := c.guarded.Operate(c.ctx, policy, key, operations...)
	return v, c.failWrite(err)
}

func (c *compat) Execute(policy *as.WritePolicy, key *as.Key, packageName, functionName string, args ...as.Value) (any, as.Error) {
	v, err := c.guarded.Execute(c.ctx, policy, key, packageName, functionName, args...)
	return v, c.failWrite(err)
}

// Calls for many records.

func (c *compat) BatchGet(policy *as.BatchPolicy, keys []*as.Key, binNames ...string) ([]*as.Record, as.Error) {
	v, err := c.guarded.BatchGet(c.ctx, policy, keys, binNames...)
	return v, c.fail(err)
}

func (c *compat) BatchGetHeader(policy *as.BatchPolicy, keys []*as.Key) ([]*as.Record, as.Error) {
	v, err := c.guarded.BatchGetHeader(c.ctx, policy, keys)
	return v, c.fail(err)
}

func (c *compat) BatchGetOperate(policy *as.BatchPolicy, keys []*as.Key, ops ...*as.Operation) ([]*as.Record, as.Error) {
	v, err := c.guarded.BatchGetOperate(c.ctx, policy, keys, ops...)
	return v, c.fail(err)
}

func (c *compat) BatchExists(policy *as.BatchPolicy, keys []*as.Key) ([]bool, as.Error) {
	v, err := c.guarded.BatchExists(c.ctx, policy, keys)
	return v, c.fail(err)
}

func (c *compat) BatchGetObjects(policy *as.BatchPolicy, keys []*as.Key, objects []any) ([]bool, as.Error) {
	v, err := c.guarded.BatchGetObjects(c.ctx, policy, keys, objects)
	return v, c.fail(err)
}

func (c *compat) BatchGetComplex(policy *as.BatchPolicy, records []*as.BatchRead) as.Error {
	return c.fail(c.guarded.BatchGetComplex(c.ctx, policy, records))
}

func (c *compat) BatchOperate(policy *as.BatchPolicy, records []as.BatchRecordIfc) as.Error {
	return c.fail(c.guarded.BatchOperate(c.ctx, policy, records))
}

func (c *compat) BatchDelete(policy *as.BatchPolicy, deletePolicy *as.BatchDeletePolicy, keys []*as.Key) ([]*as.BatchRecord, as.Error) {
	v, err := c.guarded.BatchDelete(c.ctx, policy, deletePolicy, keys)
	return v, c.fail(err)
}

func (c *compat) BatchExecute(policy *as.BatchPolicy, udfPolicy *as.BatchUDFPolicy, keys []*as.Key, packageName, functionName string, args ...as.Value) ([]*as.BatchRecord, as.Error) {
	v, err := c.guarded.BatchExecute(c.ctx, policy, udfPolicy, keys, packageName, functionName, args...)
	return v, c.fail(err)
}
