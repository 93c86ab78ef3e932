package debugz

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Loopback reports whether a request comes from this machine and was meant for it: its
// sender's address is a loopback address, so is the host that it names, or that is
// localhost, and no proxy says that it passes it on for somebody else. The host is looked
// at because a page of another site may have its own name resolve to this machine (DNS
// rebinding). A tunnel passes: ssh -L, kubectl port-forward.
//
// It is what [Config.Allow] is unless you set it, and is there to be combined with what
// you allow besides.
func Loopback(r *http.Request) bool { return whyNotLocal(r) == "" }

// whyNotLocal says what isn't local about a request; empty if nothing.
func whyNotLocal(r *http.Request) string {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !from.Addr().Unmap().IsLoopback() {
		return fmt.Sprintf("it came from %q", printable(r.RemoteAddr))
	}
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if r.Header.Get(name) != "" {
			return "it came through a proxy: it has the header " + name
		}
	}
	if !localHost(r.Host) {
		return fmt.Sprintf("it names the host %q", printable(r.Host))
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
