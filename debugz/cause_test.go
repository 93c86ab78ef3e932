package debugz_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/debugz"
	"github.com/spillway-go/spillway/internal/cause/causetest"
	"github.com/spillway-go/spillway/observe"
)

// blocked is an Observable that says when it is looked at, and waits then.
type blocked struct{ asked, goOn chan struct{} }

func (b blocked) Observe(func(observe.Snapshot) bool) {
	close(b.asked)
	<-b.goOn
}

// F10: with Go 1.24, too, a request that leaves while somebody else looks gets an error, and no
// panic, if its context is a stranger's.
func TestPageStrangersContextThatIsDoneGetsAnError(t *testing.T) {
	b := blocked{make(chan struct{}), make(chan struct{})}
	page := debugz.Handler(b)
	over := make(chan struct{})
	go func() {
		defer close(over)
		answer(page, request("/debug/spillway/text"))
	}()
	<-b.asked
	var ctx context.Context = causetest.Ended(t.Context())
	require.NotEqual(t, http.StatusOK, answer(page, request("/debug/spillway/text").WithContext(ctx)).Code)
	close(b.goOn)
	<-over
}
