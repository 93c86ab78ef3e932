//go:build browser

package debugz_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
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
	in io.WriteCloser

	mu       sync.Mutex // guards what follows
	next     int
	waiting  map[int]chan message
	loads    map[string]chan struct{} // by session: told of pages that have loaded
	troubles map[string][]string      // by session: exceptions, and what the page's own policy forbade
}

// tab is a page of a browser.
type tab struct {
	t       *testing.T
	browser *browser
	target  string
	session string
}

// message is an answer or an event.
type message struct {
	ID      int             `json:"id"`
	Session string          `json:"sessionId"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
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

// newBrowser starts a browser, and ends it with the test.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	toIt, in, err := os.Pipe()
	require.NoError(t, err)
	out, fromIt, err := os.Pipe()
	require.NoError(t, err)
	cmd := exec.Command(program(t), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--no-first-run", "--no-proxy-server", "--disable-background-networking", "--disable-component-update", "--disable-extensions",
		"--disable-sync", "--disable-background-timer-throttling", "--disable-renderer-backgrounding", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir())
	cmd.ExtraFiles = []*os.File{toIt, fromIt} // descriptors 3 and 4, as the browser expects
	require.NoError(t, cmd.Start())
	require.NoError(t, toIt.Close())
	require.NoError(t, fromIt.Close())

	b := &browser{in: in, waiting: map[int]chan message{}, loads: map[string]chan struct{}{}, troubles: map[string][]string{}}
	read := make(chan struct{})
	go func() {
		defer close(read)
		b.read(out)
	}()
	t.Cleanup(func() {
		_, _ = b.call("", "Browser.close", nil) // it may be gone before it answers
		_ = cmd.Wait()                          // how it ends is its own affair
		<-read
		_, _ = in.Close(), out.Close()
	})
	return b
}

// newTab opens an empty page. It is to be closed before what it shows is.
func (b *browser) newTab(t *testing.T) *tab {
	t.Helper()
	p := &tab{t: t, browser: b}
	var target struct{ TargetID string }
	p.result("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	p.result("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	p.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		p.call(domain+".enable", nil)
	}
	p.target = target.TargetID
	return p
}

// close closes the tab, in which nothing may have gone wrong.
func (p *tab) close() {
	p.t.Helper()
	require.Empty(p.t, p.troubles())
	p.session = ""
	p.call("Target.closeTarget", map[string]any{"targetId": p.target})
}

// troubles returns what has gone wrong so far, and forgets it.
func (p *tab) troubles() []string {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	all := p.browser.troubles[p.session]
	delete(p.browser.troubles, p.session)
	return all
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
			b.troubles[m.Session] = append(b.troubles[m.Session], string(m.Params))
		case "Page.loadEventFired":
			if c := b.loads[m.Session]; c != nil {
				close(c)
				delete(b.loads, m.Session)
			}
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

var errGone = errors.New("the browser has gone")

// call has the browser do something, and returns its answer.
func (b *browser) call(session, method string, params map[string]any) (message, error) {
	b.mu.Lock()
	b.next++
	id, answer := b.next, make(chan message, 1)
	if b.waiting == nil {
		b.mu.Unlock()
		return message{}, errGone
	}
	b.waiting[id] = answer
	b.mu.Unlock()
	request := map[string]any{"id": id, "method": method}
	if params != nil {
		request["params"] = params
	}
	if session != "" {
		request["sessionId"] = session
	}
	text, err := json.Marshal(request)
	if err != nil {
		return message{}, err
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		return message{}, err
	}
	m, ok := <-answer
	if !ok {
		return message{}, errGone
	}
	return m, nil
}

// call has the tab do something, and returns what came of it.
func (p *tab) call(method string, params map[string]any) json.RawMessage {
	p.t.Helper()
	m, err := p.browser.call(p.session, method, params)
	require.NoError(p.t, err, method)
	require.Nil(p.t, m.Error, "%s: %+v", method, m.Error)
	return m.Result
}

func (p *tab) result(method string, params map[string]any, into any) {
	p.t.Helper()
	require.NoError(p.t, json.Unmarshal(p.call(method, params), into))
}

// open shows a page and waits until it is there.
func (p *tab) open(url string) {
	p.t.Helper()
	loaded := make(chan struct{})
	p.browser.mu.Lock()
	p.browser.loads[p.session] = loaded
	p.browser.mu.Unlock()
	p.call("Page.navigate", map[string]any{"url": url})
	<-loaded
}

// eval returns the value of a JavaScript expression, awaited if it is a promise.
func (p *tab) eval(expression string) any {
	p.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails any
	}
	p.result("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &r)
	require.Nil(p.t, r.ExceptionDetails, "%s: %v", expression, r.ExceptionDetails)
	return r.Result.Value
}

// until waits until an expression is true, by being told of changes of the document. Half a
// minute is a failure.
func (p *tab) until(condition string) {
	p.t.Helper()
	p.eval(fmt.Sprintf(`new Promise((resolve, reject) => {
		const test = () => (%s);
		if (test()) return resolve();
		const seen = () => { if (test()) { watching.disconnect(); removeEventListener("load", seen); resolve(); } };
		const watching = new MutationObserver(seen);
		watching.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
		addEventListener("load", seen);
		setTimeout(() => reject(new Error("not within half a minute: " + %s + "\n" + document.body.innerText)), 30000);
	})`, condition, quoted(condition)))
}

// text is what can be read of the elements that a selector finds.
func (p *tab) text(selector string) []string {
	p.t.Helper()
	var all []string
	for _, v := range p.eval(`[...document.querySelectorAll(` + quoted(selector) + `)].map(e => e.innerText.trim())`).([]any) {
		all = append(all, v.(string))
	}
	return all
}

func (p *tab) click(selector string) {
	p.t.Helper()
	p.eval(`document.querySelector(` + quoted(selector) + `).click()`)
}

// screenshot is a picture of the page, of a width and at most a height.
func (p *tab) screenshot(width, height int, scheme string) []byte {
	p.t.Helper()
	p.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false})
	p.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}})
	var shot struct{ Data string }
	p.result("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	require.NoError(p.t, err)
	return png
}

func quoted(s string) string {
	q, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(q)
}
