//go:build browser

package debugz_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// browser is a Chromium that does what it is told over a pipe, by the DevTools protocol.
type browser struct {
	t       *testing.T
	in      io.WriteCloser
	session string

	mu       sync.Mutex // guards what follows
	next     int
	waiting  map[int]chan message
	troubles []string // exceptions, and what the page's own policy forbade
}

// message is an answer or an event.
type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// program is the Chromium there is. None is a failure: whoever runs these tests wants to
// see the page in a browser.
func program(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	require.FailNow(t, "there is no chromium: install it, or set CHROMIUM")
	return ""
}

// newBrowser starts a browser with one empty page, and ends it with the test.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	toIt, in, err := os.Pipe()
	require.NoError(t, err)
	out, fromIt, err := os.Pipe()
	require.NoError(t, err)
	cmd := exec.Command(program(t), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--no-first-run", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir())
	cmd.ExtraFiles = []*os.File{toIt, fromIt} // descriptors 3 and 4, as the browser expects
	require.NoError(t, cmd.Start())
	require.NoError(t, toIt.Close())
	require.NoError(t, fromIt.Close())

	b := &browser{t: t, in: in, waiting: map[int]chan message{}}
	read := make(chan struct{})
	go func() {
		defer close(read)
		b.read(out)
	}()
	t.Cleanup(func() {
		b.call("Browser.close", nil)
		_ = cmd.Wait() // how it ends is its own affair
		<-read
		require.NoError(t, out.Close())
		_ = in.Close()
		require.Empty(t, b.troubles)
	})

	var target struct{ TargetID string }
	b.result("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.result("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.call(domain+".enable", nil)
	}
	return b
}

// read hands out answers and keeps troubles, until the browser has gone.
func (b *browser) read(out io.Reader) {
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadBytes(0)
		if err != nil {
			break
		}
		var m message
		if json.Unmarshal(line[:len(line)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		switch m.Method {
		case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled":
			b.troubles = append(b.troubles, string(m.Params))
		}
		if c := b.waiting[m.ID]; c != nil {
			c <- m
			delete(b.waiting, m.ID)
		}
		b.mu.Unlock()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.waiting {
		close(c)
	}
	b.waiting = nil
}

// call has the browser do something, and returns what came of it.
func (b *browser) call(method string, params map[string]any) json.RawMessage {
	b.t.Helper()
	b.mu.Lock()
	b.next++
	id, answer := b.next, make(chan message, 1)
	if b.waiting == nil {
		b.mu.Unlock()
		require.FailNow(b.t, "the browser has gone", method)
	}
	b.waiting[id] = answer
	b.mu.Unlock()
	request := map[string]any{"id": id, "method": method, "params": params}
	if params == nil {
		request["params"] = map[string]any{}
	}
	if b.session != "" && method != "Browser.close" {
		request["sessionId"] = b.session
	}
	text, err := json.Marshal(request)
	require.NoError(b.t, err)
	_, err = b.in.Write(append(text, 0))
	require.NoError(b.t, err)
	m, ok := <-answer
	if !ok {
		require.Equal(b.t, "Browser.close", method, "the browser has gone")
		return nil
	}
	require.Nil(b.t, m.Error, "%s: %+v", method, m.Error)
	return m.Result
}

func (b *browser) result(method string, params map[string]any, into any) {
	b.t.Helper()
	require.NoError(b.t, json.Unmarshal(b.call(method, params), into))
}

// open shows a page and waits until it is there.
func (b *browser) open(url string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": url})
	b.until(`location.href === ` + quoted(url) + ` && document.readyState === "complete"`)
}

// eval returns the value of a JavaScript expression, awaited if it is a promise.
func (b *browser) eval(expression string) any {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails any
	}
	b.result("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &r)
	require.Nil(b.t, r.ExceptionDetails, "%s: %v", expression, r.ExceptionDetails)
	return r.Result.Value
}

// until waits until an expression is true, by being told of changes of the document. Ten
// seconds are a failure.
func (b *browser) until(condition string) {
	b.t.Helper()
	b.eval(fmt.Sprintf(`new Promise((resolve, reject) => {
		const test = () => (%s);
		if (test()) return resolve();
		const seen = () => { if (test()) { watching.disconnect(); removeEventListener("load", seen); resolve(); } };
		const watching = new MutationObserver(seen);
		watching.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
		addEventListener("load", seen);
		setTimeout(() => reject(new Error("not within ten seconds: " + %s + "\n" + document.body.innerText)), 10000);
	})`, condition, quoted(condition)))
}

// text is what can be read of the elements that a selector finds.
func (b *browser) text(selector string) []string {
	b.t.Helper()
	var all []string
	for _, v := range b.eval(`[...document.querySelectorAll(` + quoted(selector) + `)].map(e => e.innerText.trim())`).([]any) {
		all = append(all, v.(string))
	}
	return all
}

func (b *browser) click(selector string) {
	b.t.Helper()
	b.eval(`document.querySelector(` + quoted(selector) + `).click()`)
}

// screenshot is a picture of the page, of a width and at most a height.
func (b *browser) screenshot(width, height int, scheme string) []byte {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false})
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}})
	var shot struct{ Data string }
	b.result("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	require.NoError(b.t, err)
	return png
}

func quoted(s string) string {
	q, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(q)
}
