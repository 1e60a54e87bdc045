package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/cairn-rag/cairn/internal/server"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type exportCmd struct {
	File   string `arg:"" name:"file" help:"The file to write, or - for standard output."`
	Data   string `placeholder:"DIR" help:"The data folder of the instance. Default: ./cairn-data."`
	Config string `type:"path" placeholder:"FILE" help:"The configuration file of the instance. Default: the file in CAIRN_CONFIG."`
}

// Help returns the command's details and an example.
func (exportCmd) Help() string {
	return "The export has every row and every blob, from SQLite or PostgreSQL and from a folder or a bucket, with checksums. Vectors are among the blobs. " +
		"Stop the processes of the instance first. An export that was interrupted is FILE.partial; run the command again to resume it. " +
		"Secrets stay sealed: the importing instance needs the same secret key, which is not in the export. " +
		"Blobs are decrypted: the export is readable to whoever has the file, and the importing instance encrypts them with keys of its own.\n\n" +
		"Example:\n\n    cairn export instance.cairn --data /var/lib/cairn\n    cairn export - --config old.yaml | cairn import-instance - --config new.yaml --data keys"
}

// Run exports.
func (c exportCmd) Run(ctx context.Context, a *app) error {
	cfg, o, err := configure(ctx, a, c.Config, map[string]string{"data": c.Data})
	if err != nil {
		return err
	}
	var out io.Writer
	if c.File == "-" {
		if _, screen := a.stdout.(terminal.Screen); screen {
			return wrongUse("an export is no text: name a file, or send standard output to another command")
		}
		out = a.stdout
	}
	s, err := server.Export(ctx, cfg, c.File, out, o)
	if err != nil {
		return err
	}
	var rows int64
	for _, t := range s.Tables {
		rows += t.Rows
	}
	fmt.Fprintf(a.stderr, "Exported %d rows and %d blobs of %d bytes.\n", rows, s.Blobs, s.BlobBytes)
	return nil
}

type importInstanceCmd struct {
	File   string `arg:"" name:"file" help:"The file of cairn export, or - for standard input."`
	Data   string `placeholder:"DIR" help:"The data folder with secret.key of the exported instance, and for stores that are files. Default: ./cairn-data."`
	Config string `type:"path" placeholder:"FILE" help:"The configuration file of the new instance. Default: the file in CAIRN_CONFIG."`
}

// Help returns the command's details and an example.
func (importInstanceCmd) Help() string {
	return "The stores of the configuration must be empty: run neither cairn up nor cairn migrate on them before. The new instance has the ids, versions, permissions, " +
		"conversations, keys and secrets of the exported one. Every part is compared with its checksum; at the end the command counts and hashes all rows, counts the blobs, and opens ten " +
		"random documents, and only then commits the rows. If it is interrupted, run it again: blobs that are there are not written again.\n\n" +
		"Then start the instance (cairn migrate and the roles of a cluster, or cairn up) and run cairn rebuild-index, which fills the index from the stored vectors.\n\n" +
		"Example:\n\n    cairn import-instance instance.cairn --config cluster.yaml --data keys"
}

// Run imports.
func (c importInstanceCmd) Run(ctx context.Context, a *app) error {
	cfg, o, err := configure(ctx, a, c.Config, map[string]string{"data": c.Data})
	if err != nil {
		return err
	}
	in := a.stdin
	if c.File != "-" {
		file, err := os.Open(c.File)
		if err != nil {
			return fmt.Errorf("open the export: %w", err)
		}
		defer file.Close()
		in = file
	}
	r, err := server.ImportInstance(ctx, cfg, in, o)
	if err != nil {
		return err
	}
	var rows int64
	for _, t := range r.Tables {
		rows += t.Rows
	}
	fmt.Fprintf(a.stdout, "Imported %d rows and %d blobs of %d bytes, %d of them by an earlier attempt. The rows and %d random documents were compared with the export.\n"+
		"Start the instance, and run cairn rebuild-index for each workspace.\n", rows, r.Blobs, r.BlobBytes, r.Skipped, r.Opened)
	return nil
}
