package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// started is a log that hands on where the service is.
type started struct {
	slog.Handler
	users, operators chan string
}

func (s started) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "serving" {
		r.Attrs(func(a slog.Attr) bool {
			switch a.Key {
			case "users":
				s.users <- "http://" + a.Value.String()
			case "operators":
				s.operators <- "http://" + a.Value.String()
			}
			return true
		})
	}
	return nil
}

// serve runs the service until stop, which returns how it ended.
func serve(t *testing.T, o options) (users, operators string, stop func() error) {
	t.Helper()
	s := started{slog.NewTextHandler(io.Discard, nil), make(chan string, 1), make(chan string, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	o.addr, o.admin = "127.0.0.1:0", "127.0.0.1:0"
	go func() { ended <- run(ctx, o, slog.New(s)) }()
	stop = func() error { cancel(); return <-ended }
	select {
	case users = <-s.users:
	case err := <-ended:
		require.NoError(t, err, "it ended before it served")
	}
	return users, <-s.operators, stop
}

func ask(t *testing.T, method, url, body string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, res.Body.Close()) }()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, strings.TrimSpace(string(text))
}

func settings(t *testing.T, text string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "settings.json")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func TestServes(t *testing.T) {
	users, operators, stop := serve(t, options{settings: settings(t, `{"lanes": {"read": {"limit": 7}}}`)})
	for _, tc := range []struct {
		method, url, body string
		status            int
		answer            string
	}{
		{"PUT", users + "/users/7", `{"name": "Ada"}`, http.StatusNoContent, ""},
		{"GET", users + "/users/7", "", http.StatusOK, `{"name":"Ada"}`},
		{"GET", users + "/users/8", "", http.StatusNotFound, "Not Found"},
		{"PUT", users + "/users/8", `Ada`, http.StatusBadRequest, "not a user"},
		{"GET", users + "/report", "", http.StatusOK, "1 users"},
		{"GET", operators + "/livez", "", http.StatusOK, ""},
		{"GET", operators + "/readyz", "", http.StatusOK, "ready"},
		{"GET", operators + "/metrics", "", http.StatusOK, `spillway_limiter_permit_limit{spillway_lane_name="read",spillway_limiter_name="users"} 7`},
		{"GET", operators + "/debug/spillway/", "", http.StatusOK, "users"},
	} {
		status, answer := ask(t, tc.method, tc.url, tc.body)
		require.Equal(t, tc.status, status, "%s %s: %s", tc.method, tc.url, answer)
		require.True(t, strings.Contains(answer, tc.answer), "%s %s: no %s", tc.method, tc.url, tc.answer)
	}
	require.NoError(t, stop())
}

func TestRefusesSettingsThatAreWrong(t *testing.T) {
	o := options{addr: "127.0.0.1:0", admin: "127.0.0.1:0", settings: settings(t, `{"lanes": {"raed": {"limit": 7}}}`)}
	require.ErrorContains(t, run(t.Context(), o, slog.New(slog.DiscardHandler)), "Lanes[raed]")
}

func TestTroubleIsOnlyForADatabaseOfItsOwn(t *testing.T) {
	require.ErrorContains(t, run(t.Context(), options{load: "slow", hosts: []string{"127.0.0.1:3000"}}, slog.New(slog.DiscardHandler)), "a real database isn't harmed")
	require.ErrorContains(t, run(t.Context(), options{after: -1}, slog.New(slog.DiscardHandler)), "-after is -1ns")
	require.ErrorContains(t, run(t.Context(), options{load: "heavy"}, slog.New(slog.DiscardHandler)), `-load is "heavy"`)
}
