//go:build go1.25

package nethttp_test

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/nethttp"
	"github.com/spillway-go/spillway/lane"
)

// G-HTTP-2; W12, R144: with a backend that hangs for good, every request has an answer
// within MaxWait, and no more than the room lets in are waiting.
func TestGuardStuckBackendBlocksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := lane.New[any](lane.Config{Name: "pages", Limit: 2, MaxWaiting: 4, MaxWait: time.Hour})
		require.NoError(t, err)
		g := newGuard(t, l)
		stuck := make(chan struct{})
		h := g.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			<-stuck // it doesn't look at its context
			ok(w, r)
		}))
		start := time.Now()
		var wg sync.WaitGroup
		var mu sync.Mutex
		codes, slowest := map[int]int{}, time.Duration(0)
		for range 50 {
			wg.Go(func() {
				w := take(h)
				mu.Lock()
				defer mu.Unlock()
				codes[w.Code]++
				if w.Code != 200 {
					require.NotEmpty(t, w.Header().Get("Retry-After"))
					slowest = max(slowest, time.Since(start))
				}
			})
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		mu.Lock()
		require.Equal(t, map[int]int{429: 44, 503: 4}, codes)
		require.Equal(t, time.Second, slowest)
		mu.Unlock()
		close(stuck)
		wg.Wait()
		require.Equal(t, 2, codes[200])
		require.Zero(t, l.Stats().InUse)
	})
}

// G-HTTP-2: what alone doesn't bound the wait is bounded: a lane that goes by the
// context, a request without a deadline or with a far one, an admission of one's own that
// returns the context's error or its cause.
func TestGuardBoundsEveryWait(t *testing.T) {
	for name, admission := range map[string]func(t *testing.T) nethttp.Admission{
		"lane without MaxWait": func(t *testing.T) nethttp.Admission {
			return unbounded(t)
		},
		"own, cause": func(*testing.T) nethttp.Admission {
			return admissionFunc(func(ctx context.Context) (spillway.Permit, error) {
				<-ctx.Done()
				return spillway.Permit{}, context.Cause(ctx)
			})
		},
		"own, error": func(*testing.T) nethttp.Admission {
			return admissionFunc(func(ctx context.Context) (spillway.Permit, error) {
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				<-ctx.Done()
				return spillway.Permit{}, ctx.Err()
			})
		},
		"own, polling": func(*testing.T) nethttp.Admission {
			return admissionFunc(func(ctx context.Context) (spillway.Permit, error) {
				for ctx.Err() == nil {
					time.Sleep(10 * time.Millisecond)
				}
				return spillway.Permit{}, ctx.Err()
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, timeout := range []time.Duration{0, time.Hour} {
				synctest.Test(t, func(t *testing.T) {
					h := newGuard(t, admission(t), func(c *nethttp.GuardConfig) {
						c.MaxWait, c.Timeout = 1500*time.Millisecond, timeout
					}).Wrap(http.HandlerFunc(ok))
					start := time.Now()
					requireAnswer(t, take(h), 503, "2")
					require.Equal(t, 1500*time.Millisecond, time.Since(start))
				})
			}
		})
	}
}

// The bound of the wait is no deadline of the request: a lane that predicts lets somebody
// wait whom it can serve, though not within MaxWait. A request's own deadline counts.
func TestGuardBoundIsNoDeadline(t *testing.T) {
	const most = 55 * time.Millisecond
	for timeout, want := range map[time.Duration]int{0: 200, time.Minute: 200, most: 429} {
		synctest.Test(t, func(t *testing.T) {
			l, err := lane.New[any](lane.Config{Name: "pages", Limit: 1, MaxWaiting: 4, MaxWait: time.Minute, Predict: true})
			require.NoError(t, err)
			h := newGuard(t, l, func(c *nethttp.GuardConfig) { c.MaxWait, c.Timeout = most, timeout }).
				Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { time.Sleep(20 * time.Millisecond); ok(w, r) }))
			var wg sync.WaitGroup
			for range 2 { // one is served and one waits, until the lane knows that a request takes 20 ms
				wg.Go(func() {
					for range 140 {
						require.Equal(t, 200, take(h).Code)
					}
				})
			}
			time.Sleep(4*time.Second + time.Millisecond)
			require.Equal(t, want, take(h).Code, timeout) // it waits for 40 ms, and takes 20
			wg.Wait()
		})
	}
}

// The request's own time is up before: 504, without a word on when to come back.
func TestGuardRequestOutOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, unbounded(t), func(c *nethttp.GuardConfig) { c.Timeout = 300 * time.Millisecond })
		start := time.Now()
		requireAnswer(t, take(g.Wrap(http.HandlerFunc(ok))), 504, "")
		require.Equal(t, 300*time.Millisecond, time.Since(start))
		require.EqualValues(t, 1, g.Stats().Canceled)
	})
}

// unbounded returns a lane that is full, and in which only contexts bound the wait.
func unbounded(t *testing.T) *lane.Lane[any] {
	l, err := lane.New[any](lane.Config{Name: "pages", Limit: 1, MaxWaiting: 4})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = l.Admit(ctx)
	require.NoError(t, err)
	return l
}

// A caller who has gone gets nothing, leaves the waiting room, and is no refusal. Nor is
// one whose context was cancelled for a reason that has no class.
func TestGuardCallerGoneWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := lane.New[any](lane.Config{Name: "pages", Limit: 1, MaxWaiting: 4, MaxWait: time.Minute})
		require.NoError(t, err)
		busy, err := l.Admit(t.Context())
		require.NoError(t, err)
		g := newGuard(t, l, func(c *nethttp.GuardConfig) { c.MaxWait = time.Minute })
		h := g.Wrap(http.HandlerFunc(ok))
		ctx, cancel := context.WithCancelCause(t.Context())
		answer := make(chan *httptest.ResponseRecorder)
		go func() { answer <- take(h, func(r *http.Request) { *r = *r.WithContext(ctx) }) }()
		synctest.Wait()
		require.Equal(t, 1, l.Stats().Waiting)
		cancel(errSecret)
		requireAnswer(t, <-answer, 499, "")
		require.Zero(t, l.Stats().Waiting)
		require.Equal(t, nethttp.GuardStats{Name: "test", Canceled: 1}, g.Stats())
		busy.Release()
	})
}

// The same with a connection that is closed.
func TestGuardConnectionClosedWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := lane.New[any](lane.Config{Name: "pages", Limit: 1, MaxWaiting: 4, MaxWait: time.Minute})
		require.NoError(t, err)
		busy, err := l.Admit(t.Context())
		require.NoError(t, err)
		g := newGuard(t, l, func(c *nethttp.GuardConfig) { c.MaxWait = time.Minute })
		rt := serve(t, g.Wrap(http.HandlerFunc(ok)))
		conn, err := rt.DialContext(t.Context(), "pipe", "site")
		require.NoError(t, err)
		_, err = conn.Write([]byte("GET / HTTP/1.1\r\nHost: site\r\n\r\n"))
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, 1, l.Stats().Waiting)
		require.NoError(t, conn.Close())
		synctest.Wait()
		require.Zero(t, l.Stats().Waiting)
		require.EqualValues(t, 1, g.Stats().Canceled)
		busy.Release()
	})
}

// B7: a done context is admitted by nobody, not even by an admission that doesn't look.
func TestGuardDoneContextIsNotAdmitted(t *testing.T) {
	l := newLimiter(t, 1)
	careless := admissionFunc(func(context.Context) (spillway.Permit, error) {
		return l.Admit(context.WithoutCancel(t.Context()))
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := newGuard(t, careless)
	w := take(g.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("served") })),
		func(r *http.Request) { *r = *r.WithContext(ctx) })
	requireAnswer(t, w, 499, "")
	require.EqualValues(t, 1, l.Stats().Ended.Of(spillway.OutcomeLocal))
	requireWhole(t, l)
}

// A23: connections without a request hold nothing.
func TestGuardIdleConnectionsHoldNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 1)
		rt := serve(t, newGuard(t, l).Wrap(http.HandlerFunc(ok)))
		for range 5 {
			conn, err := rt.DialContext(t.Context(), "pipe", "site")
			require.NoError(t, err)
			_, err = conn.Write([]byte("GET / HTTP/1.1\r\nHost: site\r\n\r\n"))
			require.NoError(t, err)
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			require.Equal(t, 200, resp.StatusCode)
			t.Cleanup(func() { _ = conn.Close() })
		}
		synctest.Wait()
		require.Zero(t, l.Stats().InUse)
	})
}

// A panic of the admission, or of a function of the configuration, is the caller's to see.
func TestGuardFunctionsMayPanic(t *testing.T) {
	boom := func() { panic(errSecret) }
	for name, change := range map[string]func(*nethttp.GuardConfig){
		"admission": func(c *nethttp.GuardConfig) {
			c.Admission = admissionFunc(func(context.Context) (spillway.Permit, error) { boom(); return spillway.Permit{}, nil })
		},
		"class":   func(c *nethttp.GuardConfig) { c.Class = func(*http.Request) spillway.Class { boom(); return "" } },
		"weight":  func(c *nethttp.GuardConfig) { c.Weight = func(*http.Request) int { boom(); return 1 } },
		"exempt":  func(c *nethttp.GuardConfig) { c.Exempt = func(*http.Request) bool { boom(); return true } },
		"outcome": func(c *nethttp.GuardConfig) { c.Outcome = func(int) spillway.Outcome { boom(); return 0 } },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLimiter(t, 1)
			g := newGuard(t, l, change)
			require.PanicsWithError(t, errSecret.Error(), func() { take(g.Wrap(http.HandlerFunc(ok))) })
			requireWhole(t, l)
			require.Zero(t, g.Stats().Serving)
		})
	}
}

// The wait's context keeps to what contexts promise, whoever looks at what first.
func TestWaitContext(t *testing.T) {
	type key struct{}
	cause := errors.New("waited")
	for name, look := range map[string]func(context.Context){
		"nothing first": func(context.Context) {},
		"Done first":    func(ctx context.Context) { ctx.Done() },
		"Err first":     func(ctx context.Context) { _ = ctx.Err() },
		"child first":   func(ctx context.Context) { _, cancel := context.WithCancel(ctx); cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parent, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, 7))
				defer cancel()
				ctx, end := nethttp.NewWaitContext(parent, time.Second, cause)
				look(ctx)
				_, shown := ctx.Deadline()
				require.False(t, shown)
				require.Equal(t, 7, ctx.Value(key{}))
				require.NoError(t, ctx.Err())
				child, cancelChild := context.WithCancel(ctx)
				defer cancelChild()
				time.Sleep(time.Second)
				synctest.Wait()
				require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
				require.ErrorIs(t, context.Cause(ctx), cause)
				<-ctx.Done()
				<-child.Done()
				require.ErrorIs(t, context.Cause(child), cause)
				require.NoError(t, parent.Err())
				end()

				ctx, end = nethttp.NewWaitContext(parent, time.Second, cause)
				look(ctx)
				cancel()
				require.ErrorIs(t, ctx.Err(), context.Canceled)
				<-ctx.Done()
				end()

				ctx, end = nethttp.NewWaitContext(t.Context(), time.Hour, cause)
				end()
				<-ctx.Done()
				require.ErrorIs(t, ctx.Err(), context.Canceled, "who asks later finds it ended, and no timer")
			})
		})
	}
}

func TestWaitContextConcurrentSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := nethttp.NewWaitContext(t.Context(), time.Hour, errSecret)
		var wg sync.WaitGroup
		dones := make(chan (<-chan struct{}), 16)
		for i := range 16 {
			wg.Go(func() {
				if i == 7 {
					end()
				}
				dones <- ctx.Done()
				_ = ctx.Err()
			})
		}
		wg.Wait()
		for range 16 {
			require.Equal(t, ctx.Done(), <-dones)
		}
		<-ctx.Done()
	})
}

// Issue 6: at ten times its capacity a service answers everybody at once, serves at its
// capacity, says when to come back, and its probes are well throughout.
func TestGuardTenfoldOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const capacity, clients = 10, 1000 // of 100 ms each: 100 requests a second
		lanes, err := lane.NewSet[any](lane.SetConfig{
			Name: "requests", Default: "front", Classes: map[spillway.Class]string{spillway.Bulk: "back"},
			Lanes: []lane.Config{
				{Name: "front", Limit: capacity - 1, MaxWaiting: 20, MaxWait: 200 * time.Millisecond, Predict: true},
				{Name: "back", Limit: 1},
			},
		})
		require.NoError(t, err)
		ready := newReadiness(t, nethttp.DefaultReadinessConfig())
		mux := http.NewServeMux()
		mux.Handle("/livez", nethttp.Liveness())
		mux.Handle("/readyz", ready)
		mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { time.Sleep(100 * time.Millisecond); ok(w, r) })
		h := newGuard(t, lanes, func(c *nethttp.GuardConfig) {
			c.Exempt, c.Class = nethttp.Paths("/livez", "/readyz"), nethttp.ClassFromHeader("X-Class", spillway.Bulk)
		}).Wrap(mux)

		var mu sync.Mutex
		codes, slowest := map[int]int{}, time.Duration(0)
		var wg sync.WaitGroup
		for i := range clients {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond) // not all in one moment
				for range 5 {
					start := time.Now()
					w := take(h, header("X-Class", map[bool]string{true: "bulk"}[i%4 == 0]))
					mu.Lock()
					codes[w.Code]++
					slowest = max(slowest, time.Since(start))
					mu.Unlock()
					if w.Code != 200 && w.Header().Get("Retry-After") == "" {
						t.Error("nobody says when to come back")
					}
					time.Sleep(time.Second)
				}
			})
		}
		for range 50 {
			start := time.Now()
			for _, path := range []string{"/livez", "/readyz"} {
				require.Equal(t, 200, take(h, func(r *http.Request) { r.URL.Path = path }).Code)
			}
			require.Zero(t, time.Since(start))
			time.Sleep(100 * time.Millisecond)
		}
		wg.Wait()
		require.Equal(t, 5*clients, codes[200]+codes[429], "%v", codes)
		require.InDelta(t, 600, codes[200], 60, "6 s at its capacity: %v", codes)
		require.LessOrEqual(t, slowest, 300*time.Millisecond)
	})
}
