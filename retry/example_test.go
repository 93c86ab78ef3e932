package retry_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/retry"
)

// One retrier for the reads of one dependency, with the limiter inside: a permit an
// attempt, and none while backing off.
func Example() {
	ctx := context.Background()
	budget, err := retry.NewBudget(retry.DefaultBudgetConfig())
	if err != nil {
		panic(err)
	}
	policy := retry.ReadPolicy()
	policy.Name, policy.Budget = "orders.read", budget
	r, err := retry.New[string](policy)
	if err != nil {
		panic(err)
	}
	l, err := limiter.New[string](limiter.Config{Name: "orders", Limit: 32})
	if err != nil {
		panic(err)
	}

	tries := 0
	get := func(context.Context) (string, error) {
		if tries++; tries == 1 {
			return "", errors.New("connection reset")
		}
		return "order 17", nil
	}
	v, err := r.Do(ctx, func(ctx context.Context) (string, error) { return l.Do(ctx, get) })
	fmt.Println(v, err)
	fmt.Println(r.Stats().Retries, "retry,", l.Stats().Admitted, "permits")
	// Output:
	// order 17 <nil>
	// 1 retry, 2 permits
}

// What isn't worth repeating comes back as it is; what was given up says why.
func ExampleRetrier_Do() {
	policy := retry.WritePolicy()
	policy.Name, policy.MaxAttempts = "orders.write", 2
	r, err := retry.New[int](policy)
	if err != nil {
		panic(err)
	}
	ctx := context.Background()

	_, err = r.Do(ctx, func(context.Context) (int, error) {
		return 0, retry.Permanent(errors.New("no such order"))
	})
	fmt.Println(err)

	_, err = r.Do(ctx, func(context.Context) (int, error) { return 0, spillway.ErrBackpressure })
	var gaveUp *retry.ExhaustedError
	if errors.As(err, &gaveUp) {
		fmt.Println(gaveUp.Reason, gaveUp.Attempts, errors.Is(err, spillway.ErrBackpressure))
	}
	// Output:
	// no such order
	// attempts_exhausted 2 true
}

func ExampleRetrier_DoReport() {
	r, err := retry.New[int](retry.ReadPolicy())
	if err != nil {
		panic(err)
	}
	tries := 0
	v, report, err := r.DoReport(context.Background(), func(context.Context) (int, error) {
		if tries++; tries < 3 {
			return 0, errors.New("connection reset")
		}
		return 42, nil
	})
	fmt.Println(v, err)
	fmt.Println(report.Attempts, "of", report.MaxAttempts, report.Reason, report.Err)
	// Output:
	// 42 <nil>
	// 3 of 3 ok connection reset
}

// R89: the smallest policy there is: a short wait, and one more attempt.
func ExampleNew() {
	r, err := retry.New[int](retry.Policy{
		Name: "once more", MaxAttempts: 2, Base: 10 * time.Millisecond, Cap: 20 * time.Millisecond,
	})
	if err != nil {
		panic(err)
	}
	full := true
	v, err := r.Do(context.Background(), func(context.Context) (int, error) {
		if full {
			full = false
			return 0, spillway.ErrBackpressure
		}
		return 7, nil
	})
	fmt.Println(v, err)

	_, err = retry.New[int](retry.Policy{MaxAttempts: -1})
	fmt.Println(err)
	// Output:
	// 7 <nil>
	// retry: invalid configuration: MaxAttempts is -1: must be at least 1; without a limit it is retry.Unlimited; Base is 0s: must be positive
}

// Only the items that failed are sent again, and each has its own error.
func ExampleEach() {
	r, err := retry.New[any](retry.ReadPolicy())
	if err != nil {
		panic(err)
	}
	busy := true
	send := func(_ context.Context, keys []string) ([]retry.Result[int], error) {
		fmt.Println("sending", keys)
		out := make([]retry.Result[int], len(keys))
		for i, key := range keys {
			switch {
			case key == "b" && busy:
				busy, out[i].Err = false, spillway.ErrBackpressure
			case key == "c":
				out[i].Err = retry.Permanent(errors.New("not found"))
			default:
				out[i].Value = len(key)
			}
		}
		return out, nil
	}
	results, report, err := retry.Each(context.Background(), r, []string{"a", "b", "c"}, send)
	fmt.Println(results, report.Attempts, err)
	// Output:
	// sending [a b c]
	// sending [b]
	// [{1 <nil>} {1 <nil>} {0 not found}] 2 <nil>
}

// A loop of one's own that keeps the rules: classes, floor and hint, budget.
func ExamplePolicy_DelayAfter() {
	policy := retry.DefaultPolicy()
	budget, err := retry.NewBudget(retry.DefaultBudgetConfig())
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	call := func(attempt int) error {
		if attempt < 3 {
			return spillway.ErrBackpressure
		}
		return nil
	}
	for attempt := 1; ; attempt++ {
		err := call(attempt)
		if err == nil {
			budget.Deposit()
			fmt.Println("done after", attempt)
			return
		}
		if retry.Classify(err) != retry.Pushback || attempt == policy.MaxAttempts || !budget.Withdraw() {
			fmt.Println("gave up:", err)
			return
		}
		timer := time.NewTimer(policy.DelayAfter(attempt, err))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			budget.Refund()
			return
		}
	}
	// Output:
	// done after 3
}

// A classifier may know more than the default one, and leave the rest to it.
func ExampleClassify() {
	errConflict := errors.New("transaction conflict")
	policy := retry.DefaultPolicy()
	policy.Classify = func(err error) retry.Verdict {
		switch {
		case errors.Is(err, errConflict):
			return retry.Transient // it was rolled back, so it surely wasn't executed
		case errors.Is(err, spillway.ErrBackpressure):
			return retry.Stop // the caller above sheds load himself
		}
		return retry.Classify(err)
	}
	fmt.Println(policy.Classify(errConflict), policy.Classify(spillway.ErrBackpressure), policy.Classify(context.DeadlineExceeded))
	// Output:
	// transient stop ambiguous
}
