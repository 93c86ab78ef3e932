package aerospike_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// selfSigned is a certificate for the name, and who trusts it.
func selfSigned(t *testing.T, name string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	trusted := x509.NewCertPool()
	trusted.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}, trusted
}

// The name that a certificate has may be another than the host's, and than the cluster's.
func TestHostsMayNameTheirCertificate(t *testing.T) {
	certificate, trusted := selfSigned(t, "db.internal")
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2, TLS: &tls.Config{Certificates: []tls.Certificate{certificate}}})
	cfg := aerospike.DefaultConfig(srv.Hosts()...)
	cfg.ClientPolicy = as.NewClientPolicy()
	cfg.ClientPolicy.Timeout = aerospike.DefaultDriverTimeout
	cfg.ClientPolicy.TlsConfig = &tls.Config{RootCAs: trusted}
	stranger, err := aerospike.New(cfg)
	require.NoError(t, err)
	require.Error(t, stranger.Connect(t.Context()), "the certificate isn't the host's")
	require.NoError(t, stranger.Close(t.Context()))

	for i, host := range cfg.Hosts {
		at := strings.LastIndexByte(host, ':')
		cfg.Hosts[i] = host[:at] + ":db.internal" + host[at:]
	}
	client, err := aerospike.New(cfg)
	require.NoError(t, err)
	require.NoError(t, client.Connect(t.Context()))
	require.NoError(t, client.PutBins(patient(t), nil, newKey(t, 1), as.NewBin("a", 1)))
	require.Len(t, client.GetNodes(), 2)
	require.NoError(t, client.Close(t.Context()))
}

func TestHostsAreReadAsAddresses(t *testing.T) {
	cfg := aerospike.DefaultConfig()
	cfg.ClientPolicy = as.NewClientPolicy()
	cfg.ClientPolicy.Timeout = aerospike.DefaultDriverTimeout
	cfg.ClientPolicy.TlsConfig = &tls.Config{ServerName: "x"}
	check := func(address string) error {
		cfg.Hosts = []string{address}
		_, err := aerospike.New(cfg)
		return err
	}
	for _, good := range []string{"h:1", "h:name:1", "[::1]:3000", "[::1]:name:3000", "10.0.0.1:db.internal:4333"} {
		require.NoError(t, check(good), good)
	}
	for _, bad := range []string{"", "h", ":1", "h:", "h::1", ":name:1", "h:name:", "::1:3000", "fe80::1:3000", "h:a:b:1", "h:name:0", "h:name:65536", "h:name:x"} {
		require.EqualError(t, check(bad), fmt.Sprintf(`aerospike "aerospike": invalid configuration: Hosts[0] is %q: must be host:port, or with TLS host:name:port`, bad))
	}
	hosts, err := aerospike.ParseHosts("h:1", "[::1]:name:2")
	require.NoError(t, err)
	require.Equal(t, []*as.Host{{Name: "h", Port: 1}, {Name: "::1", TLSName: "name", Port: 2}}, hosts)
	hosts, err = aerospike.ParseHosts("h:1", "h")
	require.ErrorContains(t, err, `Hosts[1] is "h": must be host:port`)
	require.Nil(t, hosts)
	_, err = aerospike.ParseHosts()
	require.ErrorContains(t, err, "must have at least one host:port")

	cfg.ClientPolicy.TlsConfig = nil
	require.EqualError(t, check("h:name:1"), `aerospike "aerospike": invalid configuration: Hosts[0] is "h:name:1": must be host:port without a ClientPolicy.TlsConfig`)
}
