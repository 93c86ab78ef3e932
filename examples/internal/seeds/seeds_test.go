package seeds_test

import (
	"encoding/pem"
	"flag"
	"os"
	"path/filepath"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/examples/internal/seeds"
)

func parse(t *testing.T, args ...string) (*seeds.Seeds, *as.ClientPolicy, error) {
	t.Helper()
	var s seeds.Seeds
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	s.Flags(flags)
	require.NoError(t, flags.Parse(args))
	p, err := s.Policy()
	return &s, p, err
}

func TestSeedsSayWhoAndHow(t *testing.T) {
	s, p, err := parse(t)
	require.NoError(t, err)
	require.Nil(t, s.Hosts())
	require.Nil(t, p.TlsConfig)

	t.Setenv(seeds.Password, "secret")
	s, p, err = parse(t, "-hosts", "a:1,b:name:2", "-user", "app", "-auth", "external", "-tls")
	require.NoError(t, err)
	require.Equal(t, []string{"a:1", "b:name:2"}, s.Hosts())
	require.Equal(t, []any{"app", "secret", as.AuthModeExternal}, []any{p.User, p.Password, p.AuthMode})
	require.NotNil(t, p.TlsConfig)
	require.Nil(t, p.TlsConfig.RootCAs)
}

func TestSeedsSayWhatIsWrong(t *testing.T) {
	t.Setenv(seeds.Password, "")
	dir := t.TempDir()
	empty, junk := filepath.Join(dir, "empty"), filepath.Join(dir, "junk")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	require.NoError(t, os.WriteFile(junk, pem.EncodeToMemory(&pem.Block{Type: "KEY", Bytes: []byte("x")}), 0o600))
	for want, args := range map[string][]string{
		"-user, -auth, -tls and -tls-ca are for a cluster: -hosts is empty":           {"-tls"},
		`-auth is "ldap": must be internal, external or pki`:                          {"-hosts", "a:1", "-auth", "ldap"},
		`-user is "app", and AEROSPIKE_PASSWORD is empty: it must be the password`:    {"-hosts", "a:1", "-user", "app"},
		"-tls-ca: " + empty + " has no certificate in PEM":                            {"-hosts", "a:1", "-tls-ca", empty},
		"-tls-ca: " + junk + " has no certificate in PEM":                             {"-hosts", "a:1", "-tls-ca", junk},
		"-tls-ca: open " + filepath.Join(dir, "none") + ": no such file or directory": {"-hosts", "a:1", "-tls-ca", filepath.Join(dir, "none")},
	} {
		_, _, err := parse(t, args...)
		require.EqualError(t, err, want)
	}
}
