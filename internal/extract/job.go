package extract

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// jobFolder is the folder of a child, in which it finds the file of a request and leaves
// the files of the result. The parent copies the one in and moves the others out, so that the
// child needs no other folder.
type jobFolder struct {
	outside string // its path for the parent
	inside  string // its path for the child
}

// The parts of a job folder. The child makes further folders beside them.
const (
	inputFolder  = "in"
	outputFolder = "out"
)

// bring copies the file of an input into the folder, and returns the input with the paths
// that the child sees.
func (j jobFolder) bring(in Input) (Input, error) {
	if in.Folder != "" {
		if err := os.Mkdir(filepath.Join(j.outside, outputFolder), 0o700); err != nil {
			return Input{}, fmt.Errorf("prepare a document for its parser: %w", err)
		}
		in.Folder = filepath.Join(j.inside, outputFolder)
	}
	if in.Path == "" {
		return in, nil
	}
	name := filepath.Base(in.Path)
	err := os.Mkdir(filepath.Join(j.outside, inputFolder), 0o700)
	if err == nil {
		err = copyFile(in.Path, filepath.Join(j.outside, inputFolder, name))
	}
	if err != nil {
		return Input{}, fmt.Errorf("prepare a document for its parser: %w", err)
	}
	in.Path = filepath.Join(j.inside, inputFolder, name)
	return in, nil
}

// fetch moves the files of a result into a folder. It leaves out what is no regular file:
// the tools of a child make none, so a hostile document has made it.
func (j jobFolder) fetch(folder string) error {
	from := filepath.Join(j.outside, outputFolder)
	entries, err := os.ReadDir(from)
	if err != nil {
		return fmt.Errorf("fetch the files of a document: %w", err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		if err := moveFile(filepath.Join(from, e.Name()), filepath.Join(folder, e.Name())); err != nil {
			return fmt.Errorf("fetch the files of a document: %w", err)
		}
	}
	return nil
}

// clear removes the files of a request. The error is about the first file that stays.
func (j jobFolder) clear() error {
	return errors.Join(os.RemoveAll(filepath.Join(j.outside, inputFolder)), os.RemoveAll(filepath.Join(j.outside, outputFolder)))
}

// moveFile moves a regular file. The child may have replaced it meanwhile, but cannot
// reach it at its new path, so the file is looked at there.
func moveFile(from, to string) error {
	err := os.Rename(from, to)
	if errors.Is(err, syscall.EXDEV) {
		err = copyFile(from, to)
	}
	if err != nil {
		return err
	}
	info, err := os.Lstat(to)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.Join(errors.New("it is no file any more"), os.RemoveAll(to))
	}
	return err
}

// copyFile copies a regular file. It follows no symbolic link at the end of the path, and
// does not wait for the writer of a pipe.
func copyFile(from, to string) error {
	source, err := os.OpenFile(from, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer source.Close()
	if info, err := source.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, fmt.Errorf("%s is no regular file", filepath.Base(from)))
	}
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
