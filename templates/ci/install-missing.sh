echo 'gate: this job does not say where to get gate from. Write it again with the repository and the commit to build:'
echo 'gate:   gate init --ci FORGE --source URL@COMMIT'
exit 1
