package rules

import "testing"

func TestTestsWaitForEventsNotForTimeFindsViolations(t *testing.T) {
	const head = "package p\n\nimport (\n\t\"testing\"\n\t\"testing/synctest\"\n\t\"time\"\n)\n\n" // 8 lines
	in := func(body string) map[string]string { return map[string]string{"p/a_test.go": head + body} }
	tryOut(t, checkWaits, []specimen{
		{"literal", in("func TestX(t *testing.T) {\n\tsynctest.Test(t, func(t *testing.T) { time.Sleep(1) })\n}"), nil},
		{"named", in("func TestX(t *testing.T) { synctest.Test(t, body) }\nfunc body(t *testing.T) { time.Sleep(1) }"), nil},
		{
			"helper of a helper",
			in("func TestX(t *testing.T) { synctest.Test(t, func(t *testing.T) { a() }) }\n" +
				"func a() { b() }\nfunc b() { time.Sleep(1) }"), nil,
		},
		{
			"opener",
			in("func bubble(t *testing.T, f func()) { synctest.Test(t, func(t *testing.T) { f() }) }\n" +
				"func TestX(t *testing.T) { bubble(t, func() { time.Sleep(1) }) }"), nil,
		},
		{
			"behaviour before its bubble",
			in("func TestX(t *testing.T) {\n\tslow := func() { time.Sleep(1) }\n" +
				"\tt.Run(\"\", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { slow() }) })\n}"), nil,
		},
		{
			"in a subtest after its bubble",
			in("func TestX(t *testing.T) {\n\tt.Run(\"\", func(t *testing.T) {\n" +
				"\t\tsynctest.Test(t, func(t *testing.T) {})\n\t\ttime.Sleep(1)\n\t})\n}"),
			[]string{"p/a_test.go:12: time.Sleep"},
		},
		{"not a test", map[string]string{"p/a.go": "package p\n\nimport \"time\"\n\nfunc f() { time.Sleep(1) }"}, nil},
		{"after the bubble", in("func TestX(t *testing.T) {\n\tsynctest.Test(t, func(t *testing.T) {})\n\ttime.Sleep(1)\n}"), []string{
			"p/a_test.go:11: time.Sleep outside",
		}},
		{"no bubble", in("func TestX(t *testing.T) {\n\ttime.Sleep(1)\n}"), []string{"p/a_test.go:10: time.Sleep"}},
		{
			"helper used in both",
			in("func TestX(t *testing.T) { synctest.Test(t, func(t *testing.T) { a() }); a() }\nfunc a() { time.Sleep(1) }"),
			[]string{"p/a_test.go:10: time.Sleep"},
		},
		{
			"other name for the package",
			map[string]string{"p/a_test.go": "package p\n\nimport clock \"time\"\n\nvar _ = func() { clock.Sleep(1) }"},
			[]string{"p/a_test.go:5: time.Sleep"},
		},
		{"polling", in("func TestX(t *testing.T) {\n\trequire.Eventually(t, nil, 1, 1)\n}"), []string{"p/a_test.go:10: Eventually"}},
		{"skipping", in("func TestX(t *testing.T) {\n\tt.Skip(\"slow\")\n}"), []string{"p/a_test.go:10: a test that skips"}},
	})
}
