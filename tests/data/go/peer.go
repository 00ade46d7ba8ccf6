// An independent implementation, asked: golang.org/x/mod/sumdb/tlog and note.
//
// Reads one JSON object from standard input, writes one to standard output.
package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type recordCheck struct {
	Proof [][]byte
	Size  int64
	Root  []byte
	Index int64
	Leaf  []byte
}

type treeCheck struct {
	Proof   [][]byte
	Size    int64
	Root    []byte
	OldSize int64
	OldRoot []byte
}

type question struct {
	Entries [][]byte
	Records []recordCheck
	Trees   []treeCheck
	Notes   [][]byte
	Vkey    string
	Skey    string
	Text    string
}

type answer struct {
	Roots   [][]byte
	Records map[string][][]byte // "size/index"
	Trees   map[string][][]byte // "size/old size"
	RecordsOK []bool
	TreesOK   []bool
	NotesOK   []bool
	Signed  string
	Skey    string
	Vkey    string
	BySkey  string
	Tree    string
}

func hash(b []byte) (h tlog.Hash) {
	copy(h[:], b)
	return
}

func hashes(in [][]byte) (out []tlog.Hash) {
	for _, b := range in {
		out = append(out, hash(b))
	}
	return
}

func plain(in []tlog.Hash) [][]byte {
	out := [][]byte{}
	for _, h := range in {
		out = append(out, append([]byte{}, h[:]...))
	}
	return out
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	var q question
	must(json.NewDecoder(os.Stdin).Decode(&q))
	a := answer{Records: map[string][][]byte{}, Trees: map[string][][]byte{}}
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		var out []tlog.Hash
		for _, i := range indexes {
			out = append(out, stored[i])
		}
		return out, nil
	})
	for i, entry := range q.Entries {
		more, err := tlog.StoredHashes(int64(i), entry, reader)
		must(err)
		stored = append(stored, more...)
	}
	n := int64(len(q.Entries))
	for size := int64(1); size <= n; size++ {
		root, err := tlog.TreeHash(size, reader)
		must(err)
		a.Roots = append(a.Roots, append([]byte{}, root[:]...))
		for i := int64(0); i < size; i++ {
			p, err := tlog.ProveRecord(size, i, reader)
			must(err)
			a.Records[fmt.Sprintf("%d/%d", size, i)] = plain(p)
			t, err := tlog.ProveTree(size, i+1, reader)
			must(err)
			a.Trees[fmt.Sprintf("%d/%d", size, i+1)] = plain(t)
		}
	}
	for _, c := range q.Records {
		err := tlog.CheckRecord(tlog.RecordProof(hashes(c.Proof)), c.Size, hash(c.Root), c.Index, hash(c.Leaf))
		a.RecordsOK = append(a.RecordsOK, err == nil)
	}
	for _, c := range q.Trees {
		err := tlog.CheckTree(tlog.TreeProof(hashes(c.Proof)), c.Size, hash(c.Root), c.OldSize, hash(c.OldRoot))
		a.TreesOK = append(a.TreesOK, err == nil)
	}
	verifier, err := note.NewVerifier(q.Vkey)
	must(err)
	for _, message := range q.Notes {
		_, err := note.Open(message, note.VerifierList(verifier))
		a.NotesOK = append(a.NotesOK, err == nil)
	}
	signer, err := note.NewSigner(q.Skey)
	must(err)
	signed, err := note.Sign(&note.Note{Text: q.Text}, signer)
	must(err)
	a.Signed = string(signed)
	a.Skey, a.Vkey, err = note.GenerateKey(rand.Reader, "peer.example/log")
	must(err)
	other, err := note.NewSigner(a.Skey)
	must(err)
	signed, err = note.Sign(&note.Note{Text: q.Text}, other)
	must(err)
	a.BySkey = string(signed)
	if n > 0 {
		a.Tree = string(tlog.FormatTree(tlog.Tree{N: n, Hash: hash(a.Roots[n-1])}))
	}
	must(json.NewEncoder(os.Stdout).Encode(a))
}
