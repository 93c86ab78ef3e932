package cdt_test

import (
	"bytes"
	"testing"
)

func TestContextLeadsToValues(t *testing.T) {
	v := m{"k", l{1, l{5, 4}, m{7, l{9}}}, "z", 0}
	read(t, []check{
		{v, at(l{0x22, "k"}, 16), "", "3", 0},
		{v, at(l{0x02, "k"}, 16), "", "3", 0}, // a key of whatever it is
		{v, at(l{0x20, 0, 0x10, 1}, 17, -1), "", "4", 0},
		{v, at(l{0x21, -1, 0x11, 1}, 17, 0), "", "5", 0},
		{v, at(l{0x23, l{1, l{5, 4}, m{7, l{9}}}, 0x13, l{5, 4}}, 16), "", "2", 0},
		{v, at(l{0x22, "k", 0x10, 2, 0x22, 7}, 17, 0), "", "9", 0},
		{v, at(l{0x22, "x"}, 16), "", "", 26},
		{v, at(l{0x22, "x", 0x10, 0}, 16), "", "", 26},
		{v, at(l{0x22, "k", 0x10, 3}, 16), "", "", 26},
		{v, at(l{0x22, "k", 0x22, 3}, 16), "", "", 26},
		{v, at(l{0x10, 0}, 16), "", "", 26},
		{v, at(l{0x22, "k", 0x10, 0}, 16), "", "", 12},
		{v, at(l{0x22, "k", 0x10, 1}, 96), "", "", 12},
		{v, at(l{0x24, "k"}, 16), "", "", 26},
		{v, at(l{"x", "k"}, 16), "", "", 4},
		{v, at(l{0x22}, 16), "", "", 4},
		{v, at(l{}, 16), "", "", 4},
		{v, pack(l{0xff, l{0x22, "k"}}), "", "", 4},
		{v, at(l{0xa2, "x"}, 16), "", "", 26},
		{"text", at(l{0x22, "k"}, 16), "", "", 4},
		{v, append([]byte{0, 0xff}, pack(l{l{0x22, "k"}, l{16}})...), "", "3", 0},
	})
}

func TestOperationsInTheirOldForm(t *testing.T) {
	read(t, []check{
		{m{}, []byte{0, 96}, "", "0", 0},
		{m{}, []byte{0}, "", "", 4},
		{m{}, nil, "", "", 4},
		{l{5}, append([]byte{0, 17}, pack(l{0})...), "", "5", 0},
	})
}

func TestContextPutsElementsBackInOrder(t *testing.T) {
	ordered := flagged{1, l{flagged{1, l{1, 5}}, flagged{1, l{2}}, l{3}}}
	modify(t, []check{
		{ordered, at(l{0x10, 0}, 1, 0), "1[1[0 1 5] 1[2] [3]]", "3", 0},
		{ordered, at(l{0x10, 1}, 1, 0), "1[1[0 2] 1[1 5] [3]]", "2", 0},
		{ordered, at(l{0x10, 0}, 6, 0), "1[1[] 1[2] [3]]", "[1 5]", 0},
		{ordered, at(l{0x11, 0}, 12, 0, 9), "1[1[2] [3] 1[5 10]]", "10", 0},
		{m{"a", l{1}}, at(l{0x22, "a"}, 5, 0), "{a []}", "1", 0},
		{m{"a", l{1}}, at(l{0x22, "a"}, 5, 1), "", "", 26},
		{m{"a", m{"b", 1}}, at(l{0x22, "a"}, 67, "c", 2), "{a {b 1 c 2}}", "2", 0},
	})
}

func TestContextCreates(t *testing.T) {
	modify(t, []check{
		{nil, at(l{0x62, "k"}, 1, 5), "{k [5]}", "1", 0},
		{nil, at(l{0xa2, "k"}, 1, 5), "1{k [5]}", "1", 0},
		{nil, at(l{0xe2, "k"}, 67, 1, 2, 1), "3{k 1{1 2}}", "1", 0},
		{nil, at(l{0x1a2, "k"}, 1, 5), "1{k [5]}", "1", 0},
		{nil, at(l{0x50, 0}, 1, 5), "[[5]]", "1", 0},
		{nil, at(l{0x50, 1}, 1, 5), "", "", 26},
		{nil, at(l{0x90, 2}, 1, 5), "[nil nil [5]]", "1", 0},
		{nil, at(l{0xd0, 2}, 1, 5), "1[[5]]", "1", 0},
		{nil, at(l{0x50, -1, 0xa2, "k", 0x90, 1}, 1, 5), "[1{k [nil [5]]}]", "1", 0},
		{nil, at(l{0x62, "k", 0x11, 0}, 1, 5), "", "", 26},
		{nil, at(l{0x62, "k", 0x1a2, "k"}, 1, 5), "", "", 26},
		{nil, at(l{0x62, wildcard{}}, 1, 5), "", "", 26},
		{nil, at(l{0x22, "k"}, 1, 5), "", "", 26},
		{nil, at(l{0x62, "k"}, 5, 0), "-", "", 0},
		{nil, at(l{0x62, "k"}, 13), "", "", 12},
		{nil, at(l{0x62, "k"}, 2, l{}), "{k []}", "0", 0},
		{nil, at(l{0x62, "k"}, 0, 0), "{k []}", "", 0},
		{nil, at(l{0x62, "k"}, 67, 1, 2, 0, 6), "-", "0", 0},
		{m{"a", l{1}}, at(l{0x62, "b"}, 1, 5), "{a [1] b [5]}", "1", 0},
		{m{"a", l{1}}, at(l{0x62, "b"}, 5, 0), "", "", 0},
		{m{"a", l{1}}, at(l{0x62, "b"}, 13), "", "", 0},
		{m{"a", l{1}}, at(l{0x62, "a"}, 1, 5), "{a [1 5]}", "2", 0},
		{l{1}, at(l{0x50, 1}, 1, 5), "[1 [5]]", "1", 0},
		{l{1}, at(l{0x50, 2}, 1, 5), "", "", 26},
		{l{1}, at(l{0x90, 3}, 1, 5), "[1 nil nil [5]]", "1", 0},
		{l{1}, at(l{0x90, 1 << 30}, 1, 5), "", "", 13},
		{l{1}, at(l{0x90, -2}, 1, 5), "", "", 26},
		{flagged{1, l{1, "x"}}, at(l{0xd0, 9}, 1, 5), "1[1 x [5]]", "1", 0},
		{flagged{1, l{1, m{}}}, at(l{0xd0, 9}, 1, 5), "1[1 [5] {}]", "1", 0},
		{m{"k", l{1}}, at(l{0x22, "k", 0x10, 0}, 1, 5), "", "", 12},
		{m{"k", 1}, at(l{0x22, "k", 0x62, "x"}, 1, 5), "", "", 26},
	})
}

func TestContextWithWildcardTaintsWhatIsStored(t *testing.T) {
	v := l{l{1, "a"}}
	modify(t, []check{
		{v, at(l{0x13, l{1, wildcard{}}}, 1, 5), "", "", 4},
		{v, at(l{0x13, l{1, wildcard{}}}, 5, 0), "[[a]]", "1", 0},
	})
}

func TestContextsAreBounded(t *testing.T) {
	deep := make(l, 0, 1000)
	for range 500 {
		deep = append(deep, 0x50, 0)
	}
	nested := raw(bytes.Repeat([]byte{0x91}, 200))
	modify(t, []check{
		{nil, at(deep, 1, 5), "", "", 26},
		{nil, at(deep[:512], 1, 5), "", "", 4}, // 257 lists within one another
		{nil, at(deep[:400], 1, nested+"\x01"), "", "", 4},
	})
}
