package aerospiketest_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// certificate makes a certificate for a name, and the pool of those who trust it.
func certificate(t testing.TB, name string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}, pool
}

func TestTLSClusterIsFoundFromOneSeed(t *testing.T) {
	cert, pool := certificate(t, "db.example")
	s := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 3, TLS: &tls.Config{Certificates: []tls.Certificate{cert}}})
	host, port, err := net.SplitHostPort(s.Addr())
	require.NoError(t, err)
	n, err := strconv.Atoi(port)
	require.NoError(t, err)
	p := as.NewClientPolicy()
	p.Timeout = 5 * time.Second
	p.TlsConfig = &tls.Config{RootCAs: pool}
	seed := as.NewHost(host, n)
	seed.TLSName = "db.example"
	c, aerr := as.NewClientWithPolicyAndHost(p, seed)
	require.NoError(t, asError(aerr))
	t.Cleanup(c.Close)
	require.Len(t, c.GetNodes(), 3)
	for i := range 12 {
		put(t, c, key(t, i), as.NewBin("id", i))
	}
	require.Equal(t, upTo(12), ids(t, must(c.ScanAll(scanPolicy(), "test", "s")), nil))
	// A held command notices that its client is gone, and faults reset.
	reset := s.Inject(aerospiketest.Fault{Times: 1, Action: aerospiketest.ActionReset})
	_, aerr = c.Get(readPolicy(), key(t, 1))
	require.Error(t, asError(aerr))
	require.Equal(t, 1, reset.Hits())
	gate := s.Hold(aerospiketest.Match{})
	log := s.Record()
	rp := readPolicy()
	rp.TotalTimeout, rp.SocketTimeout = 100*time.Millisecond, 100*time.Millisecond
	_, aerr = c.Get(rp, key(t, 1))
	require.Error(t, asError(aerr))
	require.NoError(t, log.Wait(soon(t), 1))
	gate.Release()
	_, aerr = c.Get(readPolicy(), key(t, 1))
	require.NoError(t, asError(aerr))
	s.Node(1).Kill()
	require.NoError(t, s.Node(1).Restart())
}

func TestTLSServerDoesNotSpeakClear(t *testing.T) {
	cert, pool := certificate(t, "db.example")
	s := aerospiketest.NewServer(t, aerospiketest.Config{TLS: &tls.Config{Certificates: []tls.Certificate{cert}}})
	c := dial(t, s.Addr())
	_, err := c.Write(proto(2, 1, []byte("build\n")))
	require.NoError(t, err)
	_, _, err = readFrame(c)
	require.Error(t, err)
	secret, err := tls.Dial("tcp", s.Addr(), &tls.Config{RootCAs: pool, ServerName: "db.example"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = secret.Close() })
	_, body := ask(t, secret, proto(2, 1, []byte("service-clear-std\nservice-tls-std\npeers-clear-std\n")))
	require.Equal(t, "service-clear-std\t\nservice-tls-std\t"+s.Addr()+"\npeers-clear-std\t1,,[]\n", string(body))
	_, err = aerospiketest.Start(aerospiketest.Config{TLS: new(tls.Config)})
	require.ErrorContains(t, err, "Config.TLS")
}

// pairsOf reads the pairs of an info answer.
func pairsOf(text string) map[string]string {
	m := make(map[string]string)
	for pair := range strings.SplitSeq(text, ";") {
		k, v, _ := strings.Cut(pair, "=")
		m[k] = v
	}
	return m
}

func number(t testing.TB, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	require.NoError(t, err)
	return n
}
