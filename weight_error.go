package spillway

import "fmt"

// WeightError says that a call asked for a number of permits that its guard can
// never give: less than one, or more than its whole limit. It is no backpressure:
// trying again won't help, only another weight or another limit will.
type WeightError struct {
	Component string // the kind of the guard, as in "limiter"
	Name      string // its name
	Weight    int    // what was asked for
	Limit     int    // the limit at that time
}

// Error implements error.
func (e *WeightError) Error() string {
	return fmt.Sprintf("%s %q: weight is %d: must be from 1 to the limit of %d", e.Component, e.Name, e.Weight, e.Limit)
}

// Outcome returns OutcomePermanent: the same call fails again.
func (e *WeightError) Outcome() Outcome { return OutcomePermanent }

// ErrorType returns "invalid_weight", the value of the error.type attribute.
func (e *WeightError) ErrorType() string { return "invalid_weight" }
