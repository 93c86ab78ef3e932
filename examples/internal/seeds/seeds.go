package seeds

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway/adapters/aerospike"
)

// Password is the environment variable with the password of -user: what stands among the
// arguments of a program can be read by everybody on its machine.
const Password = "AEROSPIKE_PASSWORD"

// Seeds are the flags. The zero Seeds mean no cluster.
type Seeds struct {
	list, user, auth, ca string
	tls                  bool
}

// Flags adds the flags to a set that is parsed afterwards.
func (s *Seeds) Flags(flags *flag.FlagSet) {
	flags.StringVar(&s.list, "hosts", "", "seeds of a real cluster by commas, host:port, or host:name:port where its certificate has another name; empty: a server in this process")
	flags.StringVar(&s.user, "user", "", "the user to log in as, with the password in "+Password)
	flags.StringVar(&s.auth, "auth", "internal", "how to log in: internal, external or pki")
	flags.BoolVar(&s.tls, "tls", false, "speak TLS, and trust whom this machine trusts")
	flags.StringVar(&s.ca, "tls-ca", "", "speak TLS, and trust the certificates in this PEM file alone")
}

// Hosts returns the seeds; nil for a server in this process.
func (s *Seeds) Hosts() []string {
	if s.list == "" {
		return nil
	}
	return strings.Split(s.list, ",")
}

// Policy returns the driver's default policy with what the flags say, or what is wrong with
// them.
func (s *Seeds) Policy() (*as.ClientPolicy, error) {
	p := as.NewClientPolicy()
	p.Timeout = aerospike.DefaultDriverTimeout
	modes := map[string]as.AuthMode{"internal": as.AuthModeInternal, "external": as.AuthModeExternal, "pki": as.AuthModePKI}
	mode, ok := modes[s.auth]
	switch {
	case s.list == "" && (s.user != "" || s.tls || s.ca != "" || s.auth != "internal"):
		return nil, errors.New("-user, -auth, -tls and -tls-ca are for a cluster: -hosts is empty")
	case !ok:
		return nil, fmt.Errorf("-auth is %q: must be internal, external or pki", s.auth)
	}
	p.User, p.AuthMode = s.user, mode
	if s.user != "" && mode != as.AuthModePKI {
		if p.Password = os.Getenv(Password); p.Password == "" {
			return nil, fmt.Errorf("-user is %q, and %s is empty: it must be the password", s.user, Password)
		}
	}
	if s.tls || s.ca != "" {
		p.TlsConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if s.ca != "" {
		pem, err := os.ReadFile(s.ca)
		if err != nil {
			return nil, fmt.Errorf("-tls-ca: %w", err)
		}
		p.TlsConfig.RootCAs = x509.NewCertPool()
		if !p.TlsConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("-tls-ca: %s has no certificate in PEM", s.ca)
		}
	}
	return p, nil
}
