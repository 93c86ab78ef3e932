package retry_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/retry"
)

const outcomeTimeout = spillway.OutcomeTimeout

// foreignHint is an error of somebody else that says when to come back.
type foreignHint time.Duration

func (e foreignHint) Error() string             { return "come back later" }
func (e foreignHint) RetryAfter() time.Duration { return time.Duration(e) }

// R77, R79, B-16, P16: G-RET-3.
func TestClassifyReadsClassesAndSentinels(t *testing.T) {
	class := func(o spillway.Outcome) error { return &classError{o} }
	for name, c := range map[string]struct {
		err  error
		want retry.Verdict
	}{
		"nil":               {nil, retry.Stop},
		"ok":                {class(spillway.OutcomeOK), retry.Stop},
		"late":              {class(spillway.OutcomeLate), retry.Stop},
		"overload":          {class(spillway.OutcomeOverload), retry.Pushback},
		"key overload":      {class(spillway.OutcomeKeyOverload), retry.Pushback},
		"quota":             {class(spillway.OutcomeQuota), retry.Pushback},
		"timeout":           {class(spillway.OutcomeTimeout), retry.Ambiguous},
		"network":           {class(spillway.OutcomeNetwork), retry.Ambiguous},
		"permanent":         {class(spillway.OutcomePermanent), retry.Stop},
		"stop-writes":       {class(spillway.OutcomeStopWrites), retry.Stop},
		"local":             {class(spillway.OutcomeLocal), retry.Stop},
		"no class":          {errOp, retry.Ambiguous},
		"unknown class":     {class(spillway.OutcomeUnknown), retry.Ambiguous},
		"odd class":         {class(spillway.Outcome(99)), retry.Ambiguous},
		"net timeout":       {&net.DNSError{IsTimeout: true}, retry.Ambiguous},
		"deadline":          {context.DeadlineExceeded, retry.Ambiguous},
		"canceled":          {context.Canceled, retry.Stop},
		"refusal":           {errRefused, retry.Pushback},
		"wrapped refusal":   {fmt.Errorf("get: %w", errRefused), retry.Pushback},
		"bare refusal":      {spillway.ErrBackpressure, retry.Pushback},
		"expired":           {&spillway.Rejection{Reason: spillway.ReasonExpired}, retry.Stop},
		"wrapped expired":   {fmt.Errorf("get: %w", &spillway.Rejection{Reason: spillway.ReasonExpired}), retry.Stop},
		"too heavy now":     {&spillway.Rejection{Reason: spillway.ReasonLimitShrunk}, retry.Stop},
		"predicted":         {&spillway.Rejection{Reason: spillway.ReasonPredicted}, retry.Pushback},
		"closed":            {&spillway.ClosedError{}, retry.Stop},
		"closed and full":   {errors.Join(spillway.ErrBackpressure, spillway.ErrClosed), retry.Stop},
		"configuration":     {&spillway.ConfigError{}, retry.Stop},
		"nested":            {&spillway.NestedError{}, retry.Stop},
		"weight":            {&spillway.WeightError{}, retry.Stop},
		"panic":             {&spillway.PanicError{Value: errRefused}, retry.Stop},
		"inner retrier":     {&retry.ExhaustedError{Report: retry.Report{Err: errRefused}}, retry.Stop},
		"wrapped class":     {fmt.Errorf("get: %w", class(spillway.OutcomeOverload)), retry.Pushback},
		"marked permanent":  {retry.Permanent(errRefused), retry.Stop},
		"marked inside":     {fmt.Errorf("get: %w", retry.Permanent(errRefused)), retry.Stop},
		"marked after":      {retry.After(errOp, 1), retry.Pushback},
		"foreign hint":      {foreignHint(1), retry.Pushback},
		"no foreign hint":   {foreignHint(0), retry.Ambiguous},
		"timeout with hint": {retry.After(class(spillway.OutcomeTimeout), 1), retry.Ambiguous},
		"permanent, hint":   {retry.After(class(spillway.OutcomePermanent), 1), retry.Stop},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, retry.Classify(c.err)) })
	}
	for v, name := range []string{"stop", "ambiguous", "transient", "pushback", "verdict(4)"} {
		require.Equal(t, name, retry.Verdict(v).String())
	}
}

// C24, C21: marks of nil are nil, and marked errors can be asked anything.
func TestMarksKeepTheErrorAndItsClass(t *testing.T) {
	require.NoError(t, retry.Permanent(nil))
	require.NoError(t, retry.After(nil, time.Second))
	require.Equal(t, errOp, retry.After(errOp, 0))
	require.Equal(t, errOp, retry.After(errOp, -1))
	for _, mark := range []func(error) error{retry.Permanent, func(err error) error { return retry.After(err, time.Second) }} {
		require.EqualError(t, mark(errOp), errOp.Error())
		require.ErrorIs(t, mark(errOp), errOp)
		require.Equal(t, outcomeTimeout, spillway.OutcomeOf(mark(&classError{outcomeTimeout})))
		require.False(t, errors.Is(mark(rudeError{}), errOp))
	}
	require.Equal(t, spillway.OutcomePermanent, spillway.OutcomeOf(retry.Permanent(errOp)))
	require.Equal(t, spillway.OutcomeOverload, spillway.OutcomeOf(retry.After(errOp, 1)))
	once := retry.Permanent(errOp)
	require.Same(t, once, retry.Permanent(once))
	require.Same(t, once, retry.After(once, time.Second))
	require.True(t, retry.IsPermanent(fmt.Errorf("get: %w", once)))
	require.False(t, retry.IsPermanent(errOp))
	require.False(t, retry.IsPermanent(nil))
}

// rudeError asks for its own text when it is compared.
type rudeError struct{}

func (e rudeError) Error() string        { return "rude" }
func (e rudeError) Is(target error) bool { return e.Error() == target.Error() }

// R76.
func TestHintIsTheLongestThatAnErrorCarries(t *testing.T) {
	hinted := &spillway.Rejection{RetryAfter: time.Second}
	for name, c := range map[string]struct {
		err  error
		want time.Duration
	}{
		"nil":      {nil, 0},
		"none":     {errOp, 0},
		"refusal":  {hinted, time.Second},
		"wrapped":  {fmt.Errorf("get: %w", hinted), time.Second},
		"mark":     {retry.After(errOp, time.Minute), time.Minute},
		"both":     {retry.After(hinted, time.Minute), time.Minute},
		"shorter":  {retry.After(hinted, time.Millisecond), time.Second},
		"foreign":  {fmt.Errorf("get: %w", foreignHint(5)), 5},
		"negative": {foreignHint(-5), 0},
		"no value": {(*spillway.Rejection)(nil), 0},
		"gave up":  {&retry.ExhaustedError{Report: retry.Report{Err: hinted}}, time.Second},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, retry.Hint(c.err)) })
	}
}
