//go:build go1.25 && unix

package nethttp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/nethttp"
	"github.com/spillway-go/spillway/lifecycle"
)

// asService makes the test binary a service of its own.
const asService = "NETHTTP_TEST_SERVICE"

func TestMain(m *testing.M) {
	if os.Getenv(asService) != "" {
		os.Exit(beService())
	}
	os.Exit(m.Run())
}

// beService says its address, holds each request until the end has begun, and says how it ended.
func beService() int {
	say := func(words ...any) { _, _ = fmt.Fprintln(os.Stdout, words...) }
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		say(err)
		return 2
	}
	unready := make(chan struct{})
	srv := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		say("serving", r.URL.Path)
		if r.URL.Path == "/stuck" {
			<-r.Context().Done()
			return
		}
		<-unready
		_, _ = io.WriteString(w, "served to the end")
	})}
	cfg := nethttp.DefaultServeConfig(srv)
	cfg.Listener = l
	cfg.Shutdown = lifecycle.ShutdownConfig{
		Timeout: 5 * time.Minute,
		Unready: []lifecycle.Step{{Name: "test", Run: func(context.Context) error {
			<-time.After(150 * time.Millisecond) // a signal before that would count as the first one
			close(unready)
			say("ending")
			return nil
		}}},
		Close: []lifecycle.Step{{Name: "db", Run: func(context.Context) error { say("closed"); return nil }}},
	}
	say("addr", l.Addr())
	if _, err := nethttp.Serve(context.Background(), cfg); err != nil {
		say(err)
		return 1
	}
	return 0
}

// child is a service in a process of its own.
type child struct {
	cmd  *exec.Cmd
	out  *bufio.Scanner
	addr string
}

func startChild(t *testing.T) *child {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), asService+"=1")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	c := &child{cmd: cmd, out: bufio.NewScanner(out)}
	c.addr = strings.TrimPrefix(c.line(t), "addr ")
	return c
}

func (c *child) line(t *testing.T) string {
	t.Helper()
	require.True(t, c.out.Scan(), "the service has ended")
	return c.out.Text()
}

// R124, L-24: a real SIGTERM: the request under way is served to its end, the database is
// closed, and the process ends with 0.
func TestServeSIGTERM(t *testing.T) {
	c := startChild(t)
	type got struct {
		body string
		err  error
	}
	answer := make(chan got, 1)
	go func() {
		resp, err := http.Get("http://" + c.addr + "/page")
		if err != nil {
			answer <- got{err: err}
			return
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		answer <- got{string(body), err}
	}()
	require.Equal(t, "serving /page", c.line(t))
	require.NoError(t, c.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, "ending", c.line(t))
	require.Equal(t, got{body: "served to the end"}, <-answer)
	require.Equal(t, "closed", c.line(t))
	require.False(t, c.out.Scan())
	require.NoError(t, c.cmd.Wait())
}

// A second one doesn't wait for a request that hangs.
func TestServeSIGTERMTwice(t *testing.T) {
	c := startChild(t)
	broken := make(chan error, 1)
	go func() {
		resp, err := http.Get("http://" + c.addr + "/stuck")
		if err == nil {
			err = resp.Body.Close()
		}
		broken <- err
	}()
	require.Equal(t, "serving /stuck", c.line(t))
	require.NoError(t, c.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, "ending", c.line(t))
	require.NoError(t, c.cmd.Process.Signal(syscall.SIGINT))
	require.Equal(t, "closed", c.line(t))
	require.Contains(t, c.line(t), `stop intake "server"`)
	require.Error(t, <-broken)
	var exit *exec.ExitError
	require.ErrorAs(t, c.cmd.Wait(), &exit)
	require.Equal(t, 1, exit.ExitCode())
}
