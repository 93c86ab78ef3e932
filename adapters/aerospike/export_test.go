package aerospike

import (
	"context"
	"reflect"
	"time"
)

// BudgetOf shows newBudget to the tests.
func BudgetOf(ctx context.Context, policy, otherwise, least time.Duration) (total, socket time.Duration, ok bool) {
	b, ok := newBudget(ctx, time.Time{}, policy, otherwise, least)
	return b.total, b.socket(policy), ok
}

// CompatType is the type of what Compat returns.
func CompatType() reflect.Type { return reflect.TypeFor[*compat]() }

// AgeDriverStats has the driver be asked again at the next look.
func (c *Client) AgeDriverStats() {
	c.driver.mu.Lock()
	defer c.driver.mu.Unlock()
	for _, r := range c.driver.last {
		r.at = time.Time{}
	}
}

// InfoCode shows infoCode to the tests.
func InfoCode(answer string) (code int, failed bool) {
	c, failed := infoCode(answer)
	return int(c), failed
}
