package debugz

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Loopback reports whether a request looks like one that comes from this machine and was
// meant for it: its sender's address is a loopback address, so is the host that it names, or
// that is localhost, and nothing in it says that a proxy passes it on for somebody else. The
// host is looked at because a page of another site may have its own name resolve to this
// machine (DNS rebinding). A tunnel passes: ssh -L, kubectl port-forward.
//
// A proxy on this machine that leaves no trace looks like a caller on this machine: one that
// adds no header and asks for localhost instead of the host that it was asked for, as Go's
// httputil.ReverseProxy does with SetURL. No request tells the two apart. So don't let a proxy
// pass on what is behind this rule: serve it on a port of its own that no proxy knows, or set
// [Config.Allow] to something that callers have to know.
//
// It is what Config.Allow is unless you set it, and is there to be combined with what you allow
// besides.
func Loopback(r *http.Request) bool { return whyNotLocal(r) == "" }

// whyNotLocal says what isn't local about a request; empty if nothing.
func whyNotLocal(r *http.Request) string {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !from.Addr().Unmap().IsLoopback() {
		return fmt.Sprintf("it came from %q", printable(r.RemoteAddr))
	}
	if name := traceOfProxy(r); name != "" {
		return "it came through a proxy: it has " + name
	}
	if !localHost(r.Host) {
		return fmt.Sprintf("it names the host %q", printable(r.Host))
	}
	return ""
}

// traceOfProxy says what a proxy has left in a request; empty if nothing. HTTP/1.0 is how
// nginx asks that was told nothing else; browsers and curl haven't for twenty years.
func traceOfProxy(r *http.Request) string {
	for name := range r.Header {
		switch {
		case strings.HasPrefix(name, "X-Forwarded-"), strings.HasPrefix(name, "X-Original-"), strings.HasPrefix(name, "X-Envoy-"):
			return "the header " + printable(name)
		}
		switch name {
		case "Forwarded", "X-Forwarded", "X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip", "Via":
			return "the header " + name
		}
	}
	if !r.ProtoAtLeast(1, 1) {
		return "the version HTTP/1.0"
	}
	return ""
}

// localHost reports whether the host of a request, with or without its port, is a name of
// this machine that no DNS server gives out.
func localHost(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// forbid refuses a request, and says how to be let in.
func forbid(w http.ResponseWriter, r *http.Request) {
	why := whyNotLocal(r)
	if why == "" {
		why = "Config.Allow says no"
	}
	http.Error(w, fmt.Sprintf(`debugz: this request is refused: %s.

The page shows what goes on inside the process, so unless told otherwise it is for this
machine alone. To see it from another one, use a tunnel:

    ssh -L 8080:localhost:8080 <host>
    kubectl port-forward <pod> 8080

and ask for http://localhost:8080. To allow more, set debugz.Config.Allow.`, why), http.StatusForbidden)
}

// protect sets the headers that keep what is shown where it is.
func protect(h http.Header, policy string) {
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
}
