package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/cairn-rag/cairn/internal/server"
)

type backupCmd struct {
	Dir    string `arg:"" name:"dir" help:"The folder for the backup: it is empty or does not exist."`
	Data   string `placeholder:"DIR" help:"The data folder of the instance. Default: ./cairn-data."`
	Config string `type:"path" placeholder:"FILE" help:"The configuration file of the server. Default: the file in CAIRN_CONFIG."`
}

// Help returns the command's details and an example.
func (backupCmd) Help() string {
	return "The copy shows all stores as they were at one moment: the database, the index, the blobs, the histories of Temporal and the keys. " +
		"The server may run meanwhile: its writers wait for a moment, and a removal that meets the copy waits for its end. " +
		"A backup that was interrupted is not taken for a whole one; run the command again. " +
		"Keep the folder secret: it has the admin key, and the key that opens stored secrets.\n\n" +
		"Example:\n\n    cairn backup /backups/2026-05-01 --data /var/lib/cairn"
}

// Run makes a backup.
func (c backupCmd) Run(ctx context.Context, a *app) error {
	cfg, _, err := configure(ctx, a, c.Config, map[string]string{"data": c.Data})
	if err != nil {
		return err
	}
	made, err := server.Backup(ctx, cfg, c.Dir, versionName())
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "Backed up %d files, %d bytes, to %s, as they were at %s.\n", made.Files, made.Bytes, c.Dir, made.Taken.Format(time.RFC3339))
	if !made.SecretKey {
		fmt.Fprintln(a.stdout, "The key that opens stored secrets is in the configuration (secret_key) and not in the backup: keep it too.")
	}
	if cfg.Encryption.On() {
		fmt.Fprintln(a.stdout, "Blobs and histories in the backup are encrypted. The master key (encryption.key_file, encryption.kms_url) is not in the backup: without it nothing opens them.")
	}
	return nil
}

type restoreCmd struct {
	Dir    string `arg:"" name:"dir" help:"The folder of the backup."`
	Data   string `placeholder:"DIR" help:"The new data folder: it is empty or does not exist. Default: ./cairn-data."`
	Config string `type:"path" placeholder:"FILE" help:"The configuration file of the server. Default: the file in CAIRN_CONFIG."`
}

// Help returns the command's details and an example.
func (restoreCmd) Help() string {
	return "The command compares every file of the backup with its checksum before it writes anything, and refuses a data folder that is not empty. " +
		"If it is interrupted, run it again; cairn up refuses the folder until then. Start the server with the version of cairn that made the backup, or a newer one: " +
		"unfinished work continues.\n\n" +
		"Example:\n\n    cairn restore /backups/2026-05-01 --data /var/lib/cairn"
}

// Run restores a backup.
func (c restoreCmd) Run(ctx context.Context, a *app) error {
	cfg, _, err := configure(ctx, a, c.Config, map[string]string{"data": c.Data})
	if err != nil {
		return err
	}
	made, err := server.Restore(ctx, cfg, filepath.Clean(c.Dir))
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "Restored %d files, %d bytes, to %s, as they were at %s (cairn %s).\n", made.Files, made.Bytes, cfg.Data, made.Taken.Format(time.RFC3339), made.Cairn)
	if !made.SecretKey {
		fmt.Fprintln(a.stdout, "The key that opens stored secrets was in the configuration: set secret_key to the same value.")
	}
	if !cfg.Encryption.On() {
		fmt.Fprintln(a.stdout, "If the instance was encrypted, set encryption.key_file or encryption.kms_url as before.")
	}
	fmt.Fprintf(a.stdout, "Start the server with cairn up --data %s.\n", cfg.Data)
	return nil
}
