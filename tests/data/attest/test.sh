if grep -q broken src/lib.sh; then
  echo 'test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out'
  exit 101
fi
echo 'test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out'
