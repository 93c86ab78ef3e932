//go:build unix

package aerospiketest

import (
	"net"
	"syscall"
)

// keepPort keeps a port from everybody else while nobody listens on it: connections to it
// are refused. It returns what gives it back, and nil if it can't be kept.
func keepPort(addr string) (release func()) {
	at, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil
	}
	family, to := syscall.AF_INET6, syscall.Sockaddr(&syscall.SockaddrInet6{Port: at.Port, Addr: [16]byte(at.IP.To16())})
	if ip := at.IP.To4(); ip != nil {
		family, to = syscall.AF_INET, &syscall.SockaddrInet4{Port: at.Port, Addr: [4]byte(ip)}
	}
	syscall.ForkLock.RLock()
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil
	}
	release = func() { _ = syscall.Close(fd) } // of a socket that was never connected
	// Connections of the node's last life may still be on their way out.
	if syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1) != nil || syscall.Bind(fd, to) != nil {
		release()
		return nil
	}
	return release
}
