// Command generate turns the published Kubernetes API types into the table that kube/schema reads. It keeps
// names, types, tags, markers and numbers, and none of the documentation.
package main

import (
	"compress/gzip"
	"encoding/json"
	"flag"
	"log"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	out := flag.String("out", "", "folder to write to")
	discovery := flag.String("discovery", "", "folder with api.json and apis.json")
	flag.Parse()
	source := newSource()
	for _, pair := range flag.Args() {
		module, directory, _ := strings.Cut(pair, "=")
		source.modules[module] = directory
	}
	table := source.table()
	writeTypes(filepath.Join(*out, "types.json.gz"), table)
	source.writeInternal(filepath.Join(*out, "internal.json.gz"))
	writeResources(filepath.Join(*out, "resources.json"), *discovery)
	log.Printf("%d types, %d kinds", len(table.Types), len(table.Kinds))
}

func writeTypes(path string, table *Table) {
	file, err := os.Create(path)
	check(err)
	packed, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	check(err)
	encoder := json.NewEncoder(packed)
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(table))
	check(packed.Close())
	check(file.Close())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
